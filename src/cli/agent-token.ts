import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { StatePaths } from '#base/state.ts'
import type { Client } from './client.ts'
import type { Status } from './status.ts'

type Listed = {
  readonly id: string
  readonly source: 'config' | 'store' | 'environment'
  readonly status: 'active' | 'revoked'
  readonly credentials: readonly { readonly hash_prefix: string }[]
}

/** How an agent comes to a token that we know: the one kept here, or a new one. */
export type TokenPlan = {
  readonly agent: string
  readonly act: 'keep' | 'add' | 'rotate'
  /** The kept one. */
  readonly token?: string
  /** It would be the first agent of an open daemon (I13). */
  readonly closesTheDoor: boolean
}

export async function planToken(api: Client, paths: StatePaths, agent: string): Promise<TokenPlan> {
  const [{ agents }, { auth }] = await Promise.all([
    api.call<{ agents: Listed[] }>('cowork_list_agents'),
    api.call<Status>('cowork_status'),
  ])
  const listed = agents.find(({ id, status }) => id === agent && status === 'active')
  const token = keptToken(paths, agent)
  if (!listed) return { agent, act: 'add', closesTheDoor: auth === 'open' }
  const isGood =
    token !== undefined &&
    listed.credentials.some((one) => sha256Hex(token).startsWith(one.hash_prefix))
  if (isGood) return { agent, act: 'keep', token, closesTheDoor: false }
  if (listed.source === 'store') return { agent, act: 'rotate', closesTheDoor: false }
  throw new CoworkError('agent_read_only', `The agent ${agent} comes from the ${listed.source}.`, {
    hint: `Write its token to ${paths.agentToken(agent)}, or connect as another agent with --agent.`,
  })
}

/** Does what was planned. A new token leaves the daemon this once, so the caller keeps it. */
export async function obtainToken(api: Client, { agent, act, token }: TokenPlan): Promise<string> {
  if (token !== undefined) return token
  const tool = act === 'add' ? 'cowork_add_agent' : 'cowork_rotate_agent'
  return (await api.call<{ token: string }>(tool, { id: agent })).token
}

/** Where `cowork mcp --agent` looks for it (I13). */
export function keepToken(paths: StatePaths, agent: string, token: string): void {
  const file = paths.agentToken(agent)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileAtomic(file, `${token}\n`)
}

function keptToken(paths: StatePaths, agent: string): string | undefined {
  const file = paths.agentToken(agent)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
