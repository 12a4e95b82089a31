import { readFileSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import { usage } from './exit.ts'

/** A value as JSON, or as a file that holds it: `@change.json`. */
export function jsonArgument(option: string, text: string): unknown {
  const isFile = text.startsWith('@')
  const json = isFile ? textOf(option, text.slice(1)) : text
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw usage(
      `What ${option} ${isFile ? `reads from ${text.slice(1)}` : 'was given'} is no JSON: ${messageOf(error)}.`,
      `Write it as '{"field": "value"}', or as @file.`,
    )
  }
}

function textOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usage(`Cannot read ${file}: ${messageOf(cause)}.`, `Check the path after ${option} @.`)
  }
}

/** A value that needs no quotes when it is a text. */
export function valueArgument(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
