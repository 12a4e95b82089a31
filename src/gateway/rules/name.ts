import { sha256Hex } from '#base/hash.ts'

const separator = '__'
/** Clients put `mcp__cowork__` before a name and refuse more than 64 characters. */
const maxNameLength = 50
const hashLength = 8

/** Returns the name of an upstream tool for agents. A longer one ends with a hash of itself (U4). */
export function qualifyName(server: string, tool: string): string {
  const clean = (text: string) => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  const name = `${clean(server)}${separator}${clean(tool)}`
  const isExact = name === `${server}${separator}${tool}` && name.length <= maxNameLength
  if (isExact) return name
  const hash = sha256Hex(`${server}\0${tool}`).slice(0, hashLength)
  return `${name.slice(0, maxNameLength - hashLength - 1)}_${hash}`
}
