import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { actorOf } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Call } from '#base/tool.ts'
import type { Boards } from './board.ts'
import { adopt } from './disk/adopt.ts'
import { checkProjectName } from './disk/data-root.ts'
import type { DataRoot } from './disk/data-root.ts'
import type { Keeper } from './disk/keeper.ts'
import { unknownProject } from './journal.ts'
import type { WorkStore } from './store.ts'
import { newIndexText } from './yaml/new-index.ts'
import { readPlan } from './yaml/read.ts'
import type { Problem } from './yaml/read.ts'
import { readRegistry, withoutProject, withProject } from './yaml/registry.ts'
import type { RegisteredProject, Registry } from './yaml/registry.ts'

type Deps = {
  readonly db: Db
  readonly store: WorkStore
  readonly root: DataRoot
  readonly keeper: Keeper
  readonly boards: Boards
  readonly now: Clock
  readonly log: Log
}

/** Which projects there are: `config.yaml` says so, and people may edit it at any time (W1, W11). */
export function createRegistry({ db, store, root, keeper, boards, log }: Deps) {
  let known: Registry = { projects: {}, vaultPath: undefined, faults: new Map() }
  let isRead = false
  let mark: string | undefined
  let problem: string | undefined
  let turn: Promise<unknown> = Promise.resolve()

  /** What the file says now is what there is; a file that cannot be read changes nothing. */
  async function load(): Promise<void> {
    const seen = root.registryMark()
    const read = readRegistry(root.readRegistry())
    mark = seen
    if (!read.ok) {
      const [first] = read.problems
      problem = first && placed(first)
      log.warn('the registry of projects cannot be read', { problem })
      if (!isRead) await loadStored()
      return
    }
    problem = undefined
    isRead = true
    for (const fault of read.registry.faults.values())
      log.warn('a project is left out', { problem: placed(fault) })
    for (const name of Object.keys(read.registry.projects)) await open(name, systemActor)
    known = read.registry
  }

  const placed = ({ line, column, message }: Problem) =>
    `${root.registryPath}:${line}:${column}: ${message}`

  /** Where another daemon has the files, or there is no reading the file: the store says it as well. */
  async function loadStored(): Promise<void> {
    const projects = await store.projects(db)
    known = {
      projects: Object.fromEntries(projects.map(({ project }) => [project, {}])),
      vaultPath: undefined,
      faults: new Map(),
    }
  }

  /** A project that the store does not know is read from its file, or begins empty. */
  async function open(name: string, actor: Actor): Promise<void> {
    if (await store.project(db, name)) return
    root.prepare(name)
    const path = join(root.folderOf(name), 'work-index.yaml')
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.from(newIndexText())
    const text = bytes.toString('utf8')
    const read = readPlan(bytes, text)
    // Nothing is known of it yet, so there is nothing to serve; its first good version is taken over.
    const index = read.ok
      ? read.index
      : { version: 2, sprints: [], backlog: [], history: [], conflicts: [] }
    const isAdopted = await db.transact(async (tx) => {
      if (await store.project(tx, name)) return false
      await adopt(tx, store, name, index)
      tx.append({
        type: 'work.project_registered',
        actor,
        domain: 'work',
        subject: name,
        data: { sprints: index.sprints.length, backlog: index.backlog.length },
      })
      return true
    })
    if (isAdopted && read.ok) keeper.adopted(name, text, index)
    await keeper.notice(name)
    await keeper.flush(name)
  }

  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = turn.then(act)
    turn = next.catch(() => undefined)
    return next
  }

  const refresh = () => inTurn(load)

  // `constructor` is a name like others.
  const get = (name: string): RegisteredProject | undefined =>
    Object.hasOwn(known.projects, name) ? known.projects[name] : undefined

  function checkUsable(): void {
    if (problem === undefined) return
    throw new CoworkError('work_file_broken', `The registry cannot be read: ${problem}`, {
      hint: 'Mend the file; nothing was written over it.',
    })
  }

  return {
    refresh,
    names: () => Object.keys(known.projects),
    get,
    vaultPath: () => known.vaultPath,
    problem: () => problem,
    /** Why a project that the file names is not served. */
    faultOf(name: string): string | undefined {
      const fault = known.faults.get(name)
      return fault && placed(fault)
    },
    /** Looks at the registry where it changed; does nothing otherwise. */
    notice(): Promise<void> {
      if (!root.isHolder) return loadStored()
      return root.registryMark() === mark ? Promise.resolve() : refresh()
    },
    register: (name: string, entry: RegisteredProject, call: Call) =>
      inTurn(async () => {
        checkProjectName(name)
        await load()
        checkUsable()
        if (get(name))
          throw new CoworkError('duplicate_id', `There is a project ${name} already.`, {
            hint: 'worksync_projects shows it.',
            details: { suggestion: `${name}-2` },
          })
        root.writeRegistry(withProject(root.readRegistry(), name, entry))
        await open(name, actorOf(call.caller))
        await load()
      }),
    /** Its files stay where they are. */
    unregister: (name: string, call: Call) =>
      inTurn(async () => {
        await load()
        checkUsable()
        if (!get(name)) throw unknownProject(name)
        await keeper.flush(name)
        root.writeRegistry(withoutProject(root.readRegistry(), name))
        await db.transact(async (tx) => {
          await store.forget(tx, name)
          tx.append({
            type: 'work.project_unregistered',
            actor: actorOf(call.caller),
            domain: 'work',
            subject: name,
            ids: { call: call.id },
          })
        })
        keeper.forget(name)
        boards.forget(name)
        await load()
      }),
  }
}
