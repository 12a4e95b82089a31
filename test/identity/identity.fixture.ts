import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { createLog } from '#base/log.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { callTool } from '../base/tool.fixture.ts'
import { defineTool } from '#base/tool.ts'
import type { Call, Tool } from '#base/tool.ts'
import type { IdentityConfig } from '../../src/identity/credentials.ts'
import { identityMigrations } from '../../src/identity/migrations.ts'
import { createIdentity } from '../../src/identity/service.ts'
import type { Identity, IdentityDeps } from '../../src/identity/service.ts'
import { identityTools } from '../../src/identity/tools.ts'
import { openMigrated, storeFolder } from '../stores.ts'

/** A test clock that stands still until it is advanced, and then ends sleeps. */
export function createTime(start = Date.parse('2026-08-01T12:00:00Z')) {
  let at = start
  const sleepers: { due: number; wake: () => void }[] = []
  const slept: number[] = []
  return {
    now: () => at,
    /** The requested duration of each sleep. */
    slept,
    asleep: () => sleepers.length,
    sleep(ms: number) {
      slept.push(ms)
      return new Promise<void>((wake) => sleepers.push({ due: at + ms, wake }))
    },
    async pass(ms: number) {
      const until = at + ms
      for (;;) {
        sleepers.sort((a, b) => a.due - b.due)
        const next = sleepers[0]
        if (!next || next.due > until) break
        at = next.due
        sleepers.shift()
        next.wake()
        await new Promise((turn) => setImmediate(turn))
      }
      at = until
    },
  }
}

export const owner = 'pk-cowork-owner'
const site = 'http://localhost:8765'
export const defaults: IdentityConfig = {
  agents: [],
  trust: { default_level: 0.3 },
  authority: { default_mode: 'suggest' },
}
export const atMcp = { door: 'mcp', address: '127.0.0.1' } as const
export const atApi = { door: 'api', address: '127.0.0.1' } as const

export type Setup = Partial<Omit<IdentityDeps, 'config'>> & { agents?: IdentityConfig['agents'] }

/** Collects entries. A draft of the type `no.room` fails the whole batch. */
export function createRecord() {
  const entries: EntryDraft[] = []
  const sealer: Sealer<EntryDraft> = {
    prepare: (draft) => draft,
    async seal(_tx, drafts) {
      if (drafts.some(({ type }) => type === 'no.room')) throw new Error('no room')
      entries.push(...drafts)
    },
  }
  return { entries, sealer: sealer as Sealer }
}

export async function setup({ agents = [], ...deps }: Setup = {}) {
  const { entries, sealer } = createRecord()
  const db = deps.db ?? (await openStore(sealer))
  const time = createTime()
  const noted: EntryDraft[] = []
  const logged: string[] = []
  const identity = await createIdentity({
    db,
    config: { ...defaults, agents },
    ownerToken: owner,
    consoleUrl: () => site,
    now: time.now,
    sleep: time.sleep,
    appendDeferred: (draft) => void noted.push(draft),
    log: createLog({ level: 'debug', write: (line) => void logged.push(line), json: true }),
    ...deps,
  })
  const atStart = entries.splice(0)
  return { identity, db, time, atStart, entries, noted, logged, ...asOwner(identity, db) }
}

async function openStore(sealer: Sealer): Promise<Db> {
  const folder = storeFolder()
  const db = await openMigrated(join(folder, 'cowork.db'), sealer, identityMigrations)
  onTestFinished(async () => {
    await db.close()
    rmSync(folder, { recursive: true })
  })
  return db
}

const caller: Caller = {
  kind: 'human',
  id: 'owner',
  role: 'owner',
  session: 's',
  scopes: ['*'],
  verified: true,
}
export const call: Call = {
  id: 'call-1',
  caller,
  signal: new AbortController().signal,
  progress: () => undefined,
  addDetails: () => undefined,
}

const common = { title: '', description: '', input: z.object({}), output: z.object({}) }
const run = async () => ({ output: {} })
/** Tools of other modules that an agent can have. */
const others: Tool[] = [
  defineTool({
    ...common,
    name: 'read_file',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    core: true,
    read: async () => ({}),
  }),
  defineTool({
    ...common,
    name: 'delete_file',
    toolset: 'files',
    effect: 'write',
    by: 'anyone',
    run,
  }),
  defineTool({
    ...common,
    name: 'worksync_claim',
    toolset: 'work',
    effect: 'write',
    by: 'anyone',
    run,
  }),
]

/** Calls tools like dispatch: with parsed input, and a change in one transaction. */
export function createUse(identity: Identity, db: Db) {
  const catalogue: Tool[] = [...identityTools(identity, () => catalogue), ...others]
  const tools = new Map(catalogue.map((tool) => [tool.name, tool]))
  return async function use(name: string, input: unknown, by: Caller = caller): Promise<unknown> {
    const tool = tools.get(name) as Tool
    const given = tool.input.parse(input)
    const its = { ...call, caller: by }
    return tool.output.parse(await callTool(tool, db, given, its))
  }
}

function asOwner(identity: Identity, db: Db) {
  const use = createUse(identity, db)
  type Minted = { id: string; token: string; hash: string; message: string }
  type Listed = {
    id: string
    source: string
    status: string
    scopes: string[]
    tools?: string[]
    exclude?: string[]
    read_only?: boolean
    created_at?: string
    last_seen_at?: string
    credentials: { hash_prefix: string; created_at?: string; expires_at?: string }[]
  }
  return {
    add: (id: string, scopes?: string[], selection?: SelectionFields) =>
      use('cowork_add_agent', { id, scopes, ...selection }) as Promise<
        Minted & { auth_enabled: boolean }
      >,
    setTools: (id: string, selection: SelectionFields) =>
      use('cowork_set_tools', { id, ...selection }) as Promise<
        SelectionFields & { message: string }
      >,
    rotate: (id: string, overlap_minutes?: number) =>
      use('cowork_rotate_agent', { id, overlap_minutes }) as Promise<
        Minted & { old_token_ends_at: string }
      >,
    revoke: (id: string) => use('cowork_revoke_agent', { id }) as Promise<{ revoked_at: string }>,
    list: async () => ((await use('cowork_list_agents', {})) as { agents: Listed[] }).agents,
  }
}

/** Returns the code and message of an error. */
export async function refusal(promise: Promise<unknown>): Promise<CoworkError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof CoworkError) return error
  throw new Error('a refusal was expected', { cause: error })
}
