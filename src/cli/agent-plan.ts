import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { describeSelection } from '#base/selection-fields.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { joinSelections, parseNames, toFields, toSelection } from '#base/selection.ts'
import type { StatePaths } from '#base/state.ts'
import type { Client } from './client.ts'
import { storedToken } from './lookup.ts'

/** How to get an agent's token: use the stored one, add the agent, or rotate. */
export type TokenPlan = {
  readonly agent: string
  readonly act: 'keep' | 'add' | 'rotate'
  readonly token?: string
  /** True if this is the first agent and authentication is off (I13). */
  readonly enablesAuth: boolean
  /** The agent's current tools. */
  readonly selection: SelectionFields
  /** False for an agent of cowork.yaml or the environment: its tools cannot be stored. */
  readonly isStored: boolean
}

export async function planToken(api: Client, paths: StatePaths, agent: string): Promise<TokenPlan> {
  const [{ agents }, { auth }] = await Promise.all([
    api.call('cowork_list_agents'),
    api.call('cowork_status'),
  ])
  const listed = agents.find(({ id, status }) => id === agent && status === 'active')
  const token = storedToken(paths, agent)
  if (!listed)
    return { agent, act: 'add', enablesAuth: auth === 'open', selection: {}, isStored: true }
  const { tools, exclude, read_only } = listed
  const plan = {
    agent,
    enablesAuth: false,
    selection: { tools, exclude, read_only },
    isStored: listed.source === 'store',
  }
  const isGood =
    token !== undefined &&
    listed.credentials.some(({ hash_prefix }) => sha256Hex(token).startsWith(hash_prefix))
  if (isGood) return { ...plan, act: 'keep', token }
  if (plan.isStored) return { ...plan, act: 'rotate' }
  throw new CoworkError(
    'agent_read_only',
    `Cannot change agent ${agent}: the ${listed.source} defines it.`,
    {
      hint: `Write its token to ${paths.agentToken(agent)}, or choose another agent with --agent.`,
    },
  )
}

/** Executes the plan. The daemon returns a new token only once, so the caller must store it. */
export async function obtainToken(
  api: Client,
  { agent, act, token }: TokenPlan,
  selection: SelectionFields = {},
): Promise<string> {
  if (token !== undefined) return token
  const minted =
    act === 'add'
      ? api.call('cowork_add_agent', { id: agent, ...selection })
      : api.call('cowork_rotate_agent', { id: agent })
  return (await minted).token
}

/** Saves the token where `cowork mcp --agent` reads it (I13). */
export function saveToken(paths: StatePaths, agent: string, token: string): void {
  const file = paths.agentToken(agent)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomic(file, `${token}\n`)
}

/** Options that select tools (SV18). */
export type ToolOptions = {
  readonly tools?: string
  /** False for --no-exclude. */
  readonly exclude?: string | false
  readonly readOnly?: boolean
}

/** Returns the selection fields of the options; the daemon checks the names. */
export const toSelectionFields = ({ tools, exclude, readOnly }: ToolOptions): SelectionFields => ({
  ...(tools !== undefined && { tools: parseNames(tools) }),
  ...(exclude !== undefined && { exclude: exclude === false ? [] : parseNames(exclude) }),
  ...(readOnly !== undefined && { read_only: readOnly }),
})

export const hasFields = (fields: SelectionFields): boolean => Object.keys(fields).length > 0

/** Selection in the client's own entry: tools not stored with an agent, and the form of results. */
export type EntryChoice = SelectionFields & { readonly results?: string | undefined }

export const choiceArguments = ({ tools, exclude, read_only, results }: EntryChoice): string[] => [
  ...(tools ? ['--tools', tools.join(',')] : []),
  ...(exclude?.length ? ['--exclude', exclude.join(',')] : []),
  ...(read_only ? ['--read-only'] : []),
  ...(results === undefined ? [] : ['--results', results]),
]

/** Returns the query string of the endpoint URL, with the question mark. */
export function choiceQuery({ tools, exclude, read_only, results }: EntryChoice): string {
  const names = (list: readonly string[]) => list.map(encodeURIComponent).join(',')
  const parameters = [
    ...(tools ? [`tools=${names(tools)}`] : []),
    ...(exclude?.length ? [`exclude=${names(exclude)}`] : []),
    ...(read_only ? ['read_only=true'] : []),
    ...(results === undefined ? [] : [`results=${encodeURIComponent(results)}`]),
  ]
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}

/** Where a tool selection goes: stored with the agent, else written into the client's entry (SV18). */
export type ToolPlan = {
  /** Tools that the client gets. */
  readonly selection: SelectionFields
  readonly inEntry?: SelectionFields
  /** True if an existing agent gets other tools. */
  readonly isChange: boolean
  readonly text: string
}

export function planTools(
  { agent, act, selection: before, isStored }: TokenPlan,
  chosen: SelectionFields,
): ToolPlan {
  if (!isStored) {
    const selection = toFields(joinSelections(toSelection(before) ?? {}, toSelection(chosen) ?? {}))
    const text = `Tools of this connection: ${describeSelection(selection)}`
    return { selection, inEntry: chosen, isChange: false, text }
  }
  const after = toSelection({ ...before, ...chosen })
  const selection = toFields(after)
  return {
    selection,
    isChange: act !== 'add' && !isDeepStrictEqual(after, toSelection(before)),
    text: `Tools of the agent ${agent}: ${describeSelection(selection)}`,
  }
}
