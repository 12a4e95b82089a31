import { CoworkError } from './errors.ts'

/**
 * Maximum number of values (object members and array items) in one JSON text of an agent. Checking and recording one
 * value takes 5 to 10 µs of the event loop, so 4,096 values stay below 50 ms (RS4).
 */
export const maxJsonValues = 4096
/** The ledger records 64 levels of arguments; an MCP message has a few around them. */
export const maxJsonDepth = 72

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Returns the limit that a JSON text exceeds, without parsing the text: a parser would build every object first.
 * Reads each byte once, about 0.8 ms for each MiB, and stops at the limit.
 */
export function findJsonExcess(bytes: Uint8Array): 'values' | 'depth' | undefined {
  let values = 0
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at++
      while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
    } else if (byte === comma) values++
    else if (byte === openBrace || byte === openBracket) {
      values++
      if (++depth > maxJsonDepth) return 'depth'
    } else if (byte === closeBrace || byte === closeBracket) depth--
    if (values > maxJsonValues) return 'values'
  }
  return undefined
}

/** Throws `too_large` if a JSON text has more values or levels than an agent may send. */
export function checkJsonSize(bytes: Uint8Array): void {
  const excess = findJsonExcess(bytes)
  if (excess) throw jsonExcess(excess)
}

export const jsonExcess = (excess: 'values' | 'depth'): CoworkError =>
  excess === 'values'
    ? new CoworkError('too_large', `The JSON has more than ${maxJsonValues} values.`, {
        hint: 'Split the input into smaller calls, or write large content to a file and pass its path.',
      })
    : new CoworkError('too_large', `The JSON is nested deeper than ${maxJsonDepth} levels.`, {
        hint: 'Send a flatter structure.',
      })
