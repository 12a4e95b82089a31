import { existsSync, readFileSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import type { ToolName, ToolResults } from '#wire'
import type { Client } from './client.ts'
import { usageError } from './exit.ts'
import { parseJson, sanitizeForTerminal, wrapText } from './output.ts'

/** What an id stands for, where it says nothing by itself. */
type Told = (id: string) => string

type Words = {
  readonly told?: Told
  /** How one comes to be, for who finds none. */
  readonly made?: string
}

/** The id that is meant: the one written in full, or the only one that begins so (K2). */
export function resolvePrefix(
  given: string,
  ids: readonly string[],
  what: string,
  { told, made }: Words = {},
): string {
  if (ids.includes(given)) return given
  const found = given === '' ? [] : ids.filter((id) => id.startsWith(given))
  if (found.length === 1 && found[0] !== undefined) return found[0]
  if (found.length === 0)
    throw new CoworkError(
      'not_found',
      given === ''
        ? `The name of the ${what} is empty.`
        : `There is no ${what} named ${sanitizeForTerminal(given)}.`,
      {
        hint: [ids.length > 0 ? formatIds('There is:', ids, told) : 'There is none.', made]
          .filter((line) => line !== undefined)
          .join('\n'),
      },
    )
  throw new CoworkError(
    'ambiguous_id',
    `More than one ${what} begins with ${sanitizeForTerminal(given)}.`,
    {
      hint: formatIds('Write more of it:', found, told),
    },
  )
}

const isMade = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const mostListed = 10

/** Names as they are; ids that nobody reads to their end as far as tells them apart. */
export function formatIds(lead: string, ids: readonly string[], told?: Told): string {
  const short = ids.every((id) => isMade.test(id)) ? shortenIds(ids) : String
  const first = ids.slice(0, mostListed)
  const more = ids.length > mostListed ? [`and ${ids.length - mostListed} more`] : []
  if (!told)
    return wrapText(
      `${lead} ${sanitizeForTerminal([...first.map(short), ...more].join(', '))}.`,
    ).join('\n')
  const lines = first.map((id) => sanitizeForTerminal(`${short(id)}  ${told(id)}`))
  return [lead, ...[...lines, ...more].map((line) => `  ${line}`)].join('\n')
}

const shortestShown = 8

/** How much of each id tells them apart; never less than a person can recognise. */
export function shortenIds(ids: readonly string[]): (id: string) => string {
  for (let length = shortestShown; length < 36; length++)
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length)
      return (id) => id.slice(0, length)
  return (id) => id
}

export const moreNotes = (isMore: boolean): string[] =>
  isMore ? ['There are more: -n shows them.'] : []

/** A name that `cowork mcp --agent` will take: its token lies in a file that is called so (I13). */
export function parseAgentName(given: string): string {
  if (/^[^./\\\0][^/\\\0]{0,127}$/.test(given)) return given
  throw usageError(
    `${JSON.stringify(given)} cannot be the name of an agent with a token file.`,
    'Use 1 to 128 characters, without slashes and without a dot at the start.',
  )
}

export function storedToken(paths: StatePaths, agent: string): string | undefined {
  const file = paths.agentToken(agent)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/**
 * The agent that is meant, among those registered and those that have earned or lost trust. Where the
 * door is open anybody may come in, so a name nobody has used yet is taken as it is.
 */
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

/** The tools that answer page by page: the rest comes by the cursor. */
type PagedTool = {
  [Name in ToolName]: 'next_cursor' extends keyof ToolResults[Name] ? Name : never
}[ToolName]

/** The schema of `worksync_get` leaves the cursor open. */
type Paged = { readonly next_cursor?: string }

/** Calls a tool for as many items as asked for, over as many pages as that takes. */
export async function pages<Name extends PagedTool, One>(
  client: Client,
  tool: Name,
  input: object,
  of: (page: ToolResults[Name]) => readonly One[],
  most = Infinity,
): Promise<{ readonly all: One[]; readonly isMore: boolean; readonly last: ToolResults[Name] }> {
  const all: One[] = []
  for (let cursor: string | undefined; ;) {
    const last: ToolResults[Name] = await client.call(tool, { ...input, cursor })
    all.push(...of(last))
    cursor = (last as Paged).next_cursor
    if (cursor === undefined || all.length >= most)
      return { all: all.slice(0, most), isMore: cursor !== undefined || all.length > most, last }
  }
}

/** A value as JSON, or as a file that holds it: `@change.json`. */
export function parseJsonArgument(option: string, text: string): unknown {
  const isFile = text.startsWith('@')
  const json = isFile ? readGiven(text.slice(1), `Check the path after ${option} @.`) : text
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw usageError(
      `What ${option} ${isFile ? `reads from ${text.slice(1)}` : 'was given'} is no JSON: ${errorMessage(error)}.`,
      `Write it as '{"field": "value"}', or as @file.`,
    )
  }
}

export function readGiven(file: string, hint: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw usageError(`Cannot read ${file}: ${errorMessage(cause)}.`, hint)
  }
}

/** A value that needs no quotes when it is a text. */
export function parseValueArgument(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? text : value
}
