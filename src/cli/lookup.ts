import { existsSync, readFileSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import type { ToolName, ToolResults } from '#wire'
import type { Client } from './client.ts'
import { usageError } from './exit.ts'
import { parseJson, sanitizeForTerminal, wrapText } from './output.ts'

/** Describes an id that has no meaning of its own. */
type DescribeId = (id: string) => string

type PrefixOptions = {
  readonly describe?: DescribeId
  /** Hint on how to create an item. */
  readonly createHint?: string
}

/** Finds the id that equals the text, or the only one that starts with it (K2). */
export function resolvePrefix(
  given: string,
  ids: readonly string[],
  noun: string,
  { describe, createHint }: PrefixOptions = {},
): string {
  if (ids.includes(given)) return given
  const matches = given === '' ? [] : ids.filter((id) => id.startsWith(given))
  if (matches.length === 1 && matches[0] !== undefined) return matches[0]
  if (matches.length === 0)
    throw new CoworkError(
      'not_found',
      given === '' ? `Empty name of ${noun}.` : `Unknown ${noun}: ${sanitizeForTerminal(given)}.`,
      {
        hint: [ids.length > 0 ? formatIds('Available:', ids, describe) : 'None exist.', createHint]
          .filter((line) => line !== undefined)
          .join('\n'),
      },
    )
  throw new CoworkError('ambiguous_id', `Ambiguous ${noun}: ${sanitizeForTerminal(given)}.`, {
    hint: formatIds('Type more characters:', matches, describe),
  })
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const maxListedIds = 10

/** Formats names unchanged, and UUIDs as unique prefixes. */
export function formatIds(lead: string, ids: readonly string[], describe?: DescribeId): string {
  const short = ids.every((id) => uuidPattern.test(id)) ? shortenIds(ids) : String
  const first = ids.slice(0, maxListedIds)
  const more = ids.length > maxListedIds ? [`and ${ids.length - maxListedIds} more`] : []
  if (!describe)
    return wrapText(
      `${lead} ${sanitizeForTerminal([...first.map(short), ...more].join(', '))}.`,
    ).join('\n')
  const lines = first.map((id) => sanitizeForTerminal(`${short(id)}  ${describe(id)}`))
  return [lead, ...[...lines, ...more].map((line) => `  ${line}`)].join('\n')
}

const minShownIdLength = 8

/** Returns a function that shortens ids to unique prefixes of at least 8 characters. */
export function shortenIds(ids: readonly string[]): (id: string) => string {
  for (let length = minShownIdLength; length < 36; length++)
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length)
      return (id) => id.slice(0, length)
  return (id) => id
}

export const moreNotes = (isMore: boolean): string[] =>
  isMore ? ['More rows exist: use -n to show them.'] : []

/** Parses an agent name for `cowork mcp --agent`: the token file has this name (I13). */
export function parseAgentName(given: string): string {
  if (/^[^./\\\0][^/\\\0]{0,127}$/.test(given)) return given
  throw usageError(
    `Invalid agent name: ${JSON.stringify(given)}.`,
    'Use 1 to 128 characters, without slashes and a leading dot.',
  )
}

export function storedToken(paths: StatePaths, agent: string): string | undefined {
  const file = paths.agentToken(agent)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** Finds an agent among those registered and those with trust. With authentication off, an unknown name is accepted. */
export async function resolveAgent<Given extends string | undefined>(
  client: Client,
  given: Given,
): Promise<string | Given> {
  if (given === undefined) return given
  const [{ agents }, { trust }] = await Promise.all([
    client.call('cowork_list_agents'),
    client.call('cowork_status'),
  ])
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  const known = [...new Set([...active, ...trust.map((pair) => pair.agent_id)])]
  const isUnknown = !known.some((id) => id.startsWith(given))
  return isUnknown && active.length === 0 ? given : resolvePrefix(given, known, 'agent')
}

/** Tools that return pages with a cursor. */
type PagedTool = {
  [Name in ToolName]: 'next_cursor' extends keyof ToolResults[Name] ? Name : never
}[ToolName]

/** The schema of `worksync_get` does not declare the cursor. */
type Paged = { readonly next_cursor?: string }

/** Calls a tool until it has `limit` items or the last page. */
export async function readPages<Name extends PagedTool, Item>(
  client: Client,
  tool: Name,
  input: object,
  getItems: (page: ToolResults[Name]) => readonly Item[],
  limit = Infinity,
): Promise<{ readonly all: Item[]; readonly isMore: boolean; readonly last: ToolResults[Name] }> {
  const all: Item[] = []
  for (let cursor: string | undefined; ;) {
    const last: ToolResults[Name] = await client.call(tool, { ...input, cursor })
    all.push(...getItems(last))
    cursor = (last as Paged).next_cursor
    if (cursor === undefined || all.length >= limit)
      return { all: all.slice(0, limit), isMore: cursor !== undefined || all.length > limit, last }
  }
}

/** Parses JSON from the argument, or from a file: `@change.json`. */
export function parseJsonArgument(option: string, text: string): unknown {
  const isFile = text.startsWith('@')
  const json = isFile ? readArgumentFile(text.slice(1), `Check the path after ${option} @.`) : text
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw usageError(
      `Invalid JSON in ${isFile ? text.slice(1) : option}: ${errorMessage(error)}.`,
      `Use '{"field": "value"}' or @file.`,
    )
  }
}

export function readArgumentFile(file: string, hint: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usageError(`Cannot read ${file}: ${errorMessage(cause)}.`, hint)
  }
}

/** Parses JSON; other text is a string, so that it needs no quotes. */
export function parseValueArgument(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? text : value
}
