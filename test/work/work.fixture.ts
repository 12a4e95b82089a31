// The work module with a real store, ledger and folder, called through its tools, for contract
// tests.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller } from '#base/caller.ts'
import { loadConfig } from '#base/config/index.ts'
import { migrate } from '#base/db/migrate.ts'
import type { Db, Sealer } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import { silentLog } from '#base/log.ts'
import { callTool } from '../base/tool.fixture.ts'
import type { Call, CallDetails } from '#base/tool.ts'
import {
  createRedactor,
  createSealer,
  ledgerMigrations,
  loadOrCreateKey,
  openLedger,
} from '#ledger'
import { checkWork } from '../../src/work/check.ts'
import { startLeaseExpiry } from '../../src/work/claims.ts'
import type { GuardedFiles } from '../../src/work/guarded.ts'
import { createJournal } from '../../src/work/journal.ts'
import { workMigrations } from '../../src/work/migrations.ts'
import type { Story, WorkIndex } from '../../src/work/model.ts'
import { createWork } from '../../src/work/service.ts'
import { createWorkStore } from '../../src/work/store.ts'
import { workTools } from '../../src/work/tools/index.ts'
import { parseIndex } from '../../src/work/yaml/read.ts'
import { guardFiles } from '../guarded-files.ts'
import { openMigrated, storePath } from '../stores.ts'

export type Engine = {
  readonly dialect: 'sqlite' | 'postgres'
  /** Creates a separate store, which can be opened repeatedly. */
  create(): Promise<{ open(sealer: Sealer): Promise<Db> }>
  /** The real guard and file worker, with no grants. */
  guardFiles(state: string): GuardedFiles & { close(): Promise<void> }
}

export type World = Awaited<ReturnType<typeof createWorld>>
export type Desk = Awaited<ReturnType<World['start']>>
/** The loosely typed result of a tool. */
export type LooseResult = Record<string, unknown> & {
  readonly story: Story & { readonly sprint_id: string }
  readonly item: Record<string, unknown>
  readonly lease: { readonly fence: number; readonly until: string }
  readonly next_cursor?: string
}

const agentOf = (id: string): Caller => ({
  kind: 'agent',
  id,
  session: `session-${id}`,
  verified: true,
  scopes: ['*'],
})
export const sales = agentOf('sales')
export const support = agentOf('support')
export const anna: Caller = { ...agentOf('anna'), kind: 'human', role: 'reviewer' }

const migrations = [...ledgerMigrations, ...workMigrations]

export const sqliteEngine: Engine = {
  dialect: 'sqlite',
  guardFiles,
  async create() {
    const path = storePath()
    return { open: (sealer) => openMigrated(path, sealer, migrations) }
  },
}

/** Creates a store and a data root with an adjustable clock, on which daemons are started. */
export async function createWorld(engine: Engine) {
  const store = await engine.create()
  const folder = mkdtempSync(join(tmpdir(), 'cowork-work-'))
  const files = { ledgerKey: join(folder, 'key'), ledgerPublicKey: join(folder, 'pub') }
  const root = join(folder, 'worksync')
  let offset = 0
  const now = () => Date.now() + offset

  function editFile(path: string, text: string): void {
    writeFileSync(path, text)
    offset += 1000
  }

  async function start() {
    const sealer = createSealer(engine.dialect, createRedactor({ secrets: [], patterns: [] }), now)
    const db = await store.open(sealer)
    await migrate(db, migrations, 0)
    const ledger = await openLedger({
      db,
      sealer,
      openKey: (known) => loadOrCreateKey(files, known),
      copyCheckpoint: () => undefined,
      now,
      log: silentLog,
    })
    const flag = { path: ['work', 'data_root'], value: root, origin: 'the test' }
    const { config } = loadConfig({ env: { COWORK_STATE_DIR: folder }, flags: [flag] })
    const guarded = engine.guardFiles(folder)
    const work = createWork({ db, config, guarded, now, log: silentLog })
    await work.start()
    const tools = new Map(workTools(work).map((tool) => [tool.name, tool]))
    const check = checkWork(work)

    /** Calls a tool as dispatch does: checked, parsed, and a change in one transaction. */
    async function call(name: string, args: object, caller: Caller = sales) {
      const named = tools.get(`worksync_${name}`)
      if (!named) throw new Error(`no tool ${name}`)
      const input = named.input.parse(args)
      const tool = named.forInput?.(input) ?? named
      const verdict = await check({ tool, caller, input })
      // Thrown like a refusal of the tool itself.
      if (verdict.mode === 'refuse') throw Object.assign(new Error(verdict.message), verdict)
      const details: CallDetails[] = []
      const made: Call = {
        id: newId(),
        caller,
        signal: new AbortController().signal,
        progress: () => undefined,
        addDetails: (facts) => void details.push(facts),
      }
      const given = await callTool(tool, db, input, made)
      return { output: tool.output.parse(given) as LooseResult, details, id: made.id }
    }

    return {
      db,
      work,
      call,
      ask: async (name: string, args: object, caller?: Caller): Promise<LooseResult> =>
        (await call(name, args, caller)).output,
      entries: () => ledger.find({ limit: 1000 }),
      /** Returns the file of a project after a flush. */
      async text(project: string): Promise<string> {
        await work.projectSync.flush(project)
        return readFileSync(join(root, 'projects', project, 'work-index.yaml'), 'utf8')
      },
      /** Saves an edit of the file with an old mtime, so that it counts as complete. */
      edit(project: string, change: (text: string) => string, before: string): void {
        editFile(join(root, 'projects', project, 'work-index.yaml'), change(before))
      },
      editFile,
      /** Releases expired leases. */
      async sweep(): Promise<void> {
        const items = createWorkStore(db.dialect)
        const journal = createJournal(items)
        const expiry = startLeaseExpiry({ db, store: items, journal, now, log: silentLog })
        await expiry.sweep()
        await expiry.close()
      },
      async stop(): Promise<void> {
        await work.close()
        await guarded.close()
        await ledger.close()
        await db.close()
      },
    }
  }

  return { start, root, now, move: (ms: number) => (offset += ms) }
}

export const parsed = (text: string): WorkIndex => {
  const read = parseIndex(text)
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  return read.index
}

export const findStory = (index: WorkIndex, id: string): Story | undefined =>
  index.sprints.flatMap(({ stories }) => stories ?? []).find((story) => story.id === id)
