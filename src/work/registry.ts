import { toActor } from '#base/caller.ts'
import { systemActor } from '#base/entry.ts'
import type { Actor } from '#base/entry.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import type { ProjectCache } from './project-cache.ts'
import { importProject } from './disk/import-edit.ts'
import { checkProjectName } from './disk/data-root.ts'
import type { DataRoot } from './disk/data-root.ts'
import type { ProjectSync } from './disk/project-sync.ts'
import type { GuardedFiles } from './guarded.ts'
import { unknownProjectError } from './journal.ts'
import type { WorkParts } from './journal.ts'
import { newIndexText } from './yaml/schema.ts'
import { parseIndexBytes } from './yaml/read.ts'
import type { Problem } from './yaml/read.ts'
import { readRegistry, removeProject, addProject } from './yaml/registry.ts'
import type { RegisteredProject, Registry } from './yaml/registry.ts'

type Deps = Omit<WorkParts, 'journal' | 'now'> & {
  readonly root: DataRoot
  readonly projectSync: ProjectSync
  readonly snapshots: ProjectCache
  readonly guarded: Pick<GuardedFiles, 'keep'>
}

/**
 * Creates the registry of projects in `config.yaml`, which people can edit at any time (W1, W11).
 */
export function createRegistry({ db, store, root, projectSync, snapshots, guarded, log }: Deps) {
  const emptyRegistry: Registry = { projects: {}, vaultPath: undefined, problems: new Map() }
  let current = emptyRegistry
  let isRead = false
  let fingerprint: string | undefined
  let problemText: string | undefined
  let queue: Promise<unknown> = Promise.resolve()

  /** Loads the registry from the file; an invalid file changes nothing. */
  async function load(): Promise<void> {
    const currentFingerprint = root.registryFingerprint()
    const read = readRegistryFile()
    fingerprint = currentFingerprint
    if (!read.ok) {
      const [first] = read.problems
      problemText = first && formatProblem(first)
      log.warn('registry: file invalid', { problem: problemText })
      if (!isRead) await loadStored()
      return
    }
    problemText = undefined
    isRead = true
    const { projects, vaultPath } = read.registry
    const entries = Object.entries(projects)
    const linked = entries.flatMap(([name]) => {
      const message = root.findLinkProblem(name)
      return message === undefined ? [] : [[name, { line: 1, column: 1, message }] as const]
    })
    const problems = new Map([...read.registry.problems, ...linked])
    for (const problem of problems.values())
      log.warn('registry: project skipped', { problem: formatProblem(problem) })
    const servedEntries = entries.filter(([name]) => !problems.has(name))
    for (const [name] of servedEntries) await open(name, systemActor)
    current = { projects: Object.fromEntries(servedEntries), vaultPath, problems }
    guarded
      .keep(servedEntries.flatMap(([, { repo }]) => repo ?? []))
      .catch((error: unknown) =>
        log.warn('registry: unused repositories not closed', { error: errorMessage(error) }),
      )
  }

  function readRegistryFile(): ReturnType<typeof readRegistry> {
    try {
      return readRegistry(root.readRegistry())
    } catch (error) {
      return { ok: false, problems: [{ line: 1, column: 1, message: errorMessage(error) }] }
    }
  }

  const formatProblem = ({ line, column, message }: Problem) =>
    `${root.registryPath}:${line}:${column}: ${message}`

  /** Loads the projects from the store if another daemon holds the files or the file is invalid. */
  async function loadStored(): Promise<void> {
    const projects = await store.projects(db)
    current = {
      ...emptyRegistry,
      projects: Object.fromEntries(projects.map(({ project }) => [project, {}])),
    }
  }

  /** Imports a project that is not in the store from its file, or starts it empty. */
  async function open(name: string, actor: Actor): Promise<void> {
    if (await store.project(db, name)) return
    root.createProjectFolders(name)
    const bytes = projectSync.readFile(name) ?? Buffer.from(newIndexText())
    const text = bytes.toString('utf8')
    const read = parseIndexBytes(bytes, text)
    // An invalid file starts as an empty project; its first valid version is imported.
    const index = read.ok
      ? read.index
      : { version: 2, sprints: [], backlog: [], history: [], conflicts: [] }
    const isImported = await db.transact(async (tx) => {
      if (await store.project(tx, name)) return false
      await importProject(tx, store, name, index)
      tx.append({
        type: 'work.project_registered',
        actor,
        domain: 'work',
        subject: name,
        data: { sprints: index.sprints.length, backlog: index.backlog.length },
      })
      return true
    })
    if (isImported && read.ok) projectSync.markImported(name, text, index)
    await projectSync.importEdits(name)
    await projectSync.flush(name)
  }

  const withLock = <T>(act: () => Promise<T>): Promise<T> => {
    const next = queue.then(act)
    queue = next.catch(() => undefined)
    return next
  }

  const refresh = () => withLock(load)

  // A project may be named `constructor`.
  const get = (name: string): RegisteredProject | undefined =>
    Object.hasOwn(current.projects, name) ? current.projects[name] : undefined

  function checkUsable(): void {
    if (problemText === undefined) return
    throw new CoworkError('work_file_broken', `Cannot read the registry: ${problemText}`, {
      hint: 'Fix the file; cowork did not overwrite it.',
    })
  }

  return {
    refresh,
    names: () => Object.keys(current.projects),
    get,
    vaultPath: () => current.vaultPath,
    problem: () => problemText,
    /** Returns why a registered project is not served. */
    getSkipReason(name: string): string | undefined {
      const fault = current.problems.get(name)
      return fault && formatProblem(fault)
    },
    /** Reloads the registry if the file changed. */
    reloadIfChanged(): Promise<void> {
      if (!root.isHolder) return loadStored()
      return root.registryFingerprint() === fingerprint ? Promise.resolve() : refresh()
    },
    register: (name: string, entry: RegisteredProject, call: Call) =>
      withLock(async () => {
        checkProjectName(name)
        await load()
        checkUsable()
        if (get(name))
          throw new CoworkError('duplicate_id', `Project already exists: ${name}.`, {
            hint: 'Use the suggestion, or see the project with worksync_projects.',
            details: { suggestion: `${name}-2` },
          })
        const { kind, id } = call.caller
        // Only a person can open a repository to agents: see `guidance.ts`.
        const registered = kind === 'human' ? entry : { ...entry, registered_by: id }
        root.writeRegistry(addProject(root.readRegistry(), name, registered))
        await open(name, toActor(call.caller))
        await load()
      }),
    /** Removes the project; its files stay on disk. */
    unregister: (name: string, call: Call) =>
      withLock(async () => {
        await load()
        checkUsable()
        if (!get(name)) throw unknownProjectError(name)
        await projectSync.flush(name)
        root.writeRegistry(removeProject(root.readRegistry(), name))
        await db.transact(async (tx) => {
          await store.forget(tx, name)
          tx.append({
            type: 'work.project_unregistered',
            actor: toActor(call.caller),
            domain: 'work',
            subject: name,
            ids: { call: call.id },
          })
        })
        projectSync.forget(name)
        snapshots.forget(name)
        await load()
      }),
  }
}
