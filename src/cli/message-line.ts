/** JSON-RPC messages as byte lines, inspected without parsing: a line may contain a file of 50 MB. */

export type Id = string | number

/** The top-level members that determine the kind of a message. */
export type Envelope = {
  readonly id?: Id
  readonly method?: string
  /** Set for a response. */
  readonly response?: 'result' | 'error'
}

const newline = 0x0a

/** Splits chunks into lines, each with its newline. A line longer than `maxBytes` is dropped and reported. */
export function createLineSplitter(
  onLine: (line: Buffer) => void,
  { maxBytes, onTooLong }: { readonly maxBytes: number; onTooLong(): void },
) {
  let parts: Buffer[] = []
  let size = 0

  function add(part: Buffer): void {
    size += part.length
    // The rest of a dropped line is only counted.
    if (size > maxBytes) parts = []
    else if (part.length > 0) parts.push(part)
  }

  return (chunk: Buffer): void => {
    let from = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, at + 1))
      const [first = chunk, ...rest] = parts
      if (size > maxBytes) onTooLong()
      else onLine(rest.length === 0 ? first : Buffer.concat(parts))
      parts = []
      size = 0
      from = at + 1
    }
    add(chunk.subarray(from))
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const [openBrace, closeBrace] = [0x7b, 0x7d]
const [openBracket, closeBracket] = [0x5b, 0x5d]

/** Reads the envelope of a line. A line that is not a JSON object has none; the daemon refuses it. */
export function readEnvelope(line: Buffer): Envelope {
  let envelope: Envelope = {}
  let at = skipSpace(line, 0)
  if (line[at] !== openBrace) return envelope
  do {
    const start = skipSpace(line, at + 1)
    if (line[start] !== quote) break
    const end = skipString(line, start)
    const valueStart = skipSpace(line, skipSpace(line, end) + 1)
    if (line[skipSpace(line, end)] !== colon) break
    const valueEnd = skipValue(line, valueStart)
    envelope = withMember(envelope, line.toString('latin1', start + 1, end - 1), () =>
      line.toString('utf8', valueStart, valueEnd),
    )
    // Skip the rest: a result or a file may be long.
    if (envelope.id !== undefined && (envelope.method ?? envelope.response) !== undefined) break
    at = skipSpace(line, valueEnd)
  } while (line[at] === comma)
  return envelope
}

function withMember(envelope: Envelope, name: string, json: () => string): Envelope {
  if (name === 'result' || name === 'error') return { ...envelope, response: name }
  if (name !== 'id' && name !== 'method') return envelope
  try {
    const value: unknown = JSON.parse(json())
    if (typeof value === 'string' || (name === 'id' && typeof value === 'number'))
      return { ...envelope, [name]: value }
  } catch {}
  return envelope
}

/** Returns the index of the next byte that is not white space. */
function skipSpace(line: Buffer, from: number): number {
  let at = from
  while (line[at] === 0x20 || line[at] === 0x09 || line[at] === 0x0d || line[at] === newline) at++
  return at
}

/** Returns the index after the string that starts here. */
function skipString(line: Buffer, from: number): number {
  for (let at = line.indexOf(quote, from + 1); at !== -1; at = line.indexOf(quote, at + 1)) {
    let before = at - 1
    while (line[before] === backslash) before--
    if ((at - before) % 2 === 1) return at + 1
  }
  return line.length
}

/** Returns the index after the value that starts here. */
function skipValue(line: Buffer, from: number): number {
  if (line[from] === quote) return skipString(line, from)
  let depth = 0
  for (let at = from; at < line.length; at++) {
    const byte = line[at]
    if (byte === quote) at = skipString(line, at) - 1
    else if (byte === openBrace || byte === openBracket) depth++
    else if (depth === 0 && (byte === comma || byte === closeBrace)) return at
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at + 1
  }
  return line.length
}
