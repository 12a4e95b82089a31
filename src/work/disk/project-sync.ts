import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldToEventLoop, setTimeout as sleep } from 'node:timers/promises'
import { formatRfc3339 } from '#base/clock.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { ProjectCache } from '../project-cache.ts'
import type { WorkParts } from '../journal.ts'
import type { ImportedEdit } from '../merge/merge-base.ts'
import type { WorkIndex } from '../model.ts'
import { newIndexText } from '../yaml/schema.ts'
import { parseIndex, parseIndexBytes } from '../yaml/read.ts'
import type { Problem, ParseResult } from '../yaml/read.ts'
import { createYamlEditor } from '../yaml/yaml-editor.ts'
import type { YamlEditor } from '../yaml/yaml-editor.ts'
import { createArchive } from './archive.ts'
import { saveCopy } from './confined-read.ts'
import { createProjectFile } from './project-file.ts'
import type { ProjectFile, FileContent } from './project-file.ts'
import { importEdit } from './import-edit.ts'
import { createTextWriter } from './text-writer.ts'

type Deps = WorkParts & {
  readonly snapshots: ProjectCache
  readonly folderOf: (project: string) => string
  /** Whether a linked work index must not point to this path (PV4). */
  readonly isProtected: (path: string) => boolean
}

/**
 * Why a project's file is invalid: reads return the last valid version, changes are refused (W6).
 */
export type InvalidFile = { readonly file: string; readonly problems: readonly Problem[] }

/** Why and since when a file lacks changes of the store; the flush is retried (W7). */
type Unwritten = { readonly since: string; readonly message: string }

/** Runs an action; returns false if it throws, and collects the error. */
type TryAction = (act: () => Promise<boolean>) => Promise<boolean>

/** Maximum delay between an acknowledged change and its flush (W7). */
const flushDelayMs = 250
/** Number of changes kept as possible merge bases for a save of an old version. */
const maxJournalChanges = 2000
/**
 * Number of imported edits kept as possible merge bases: an editor continues from its last save.
 */
const maxRecentEdits = 3
/** Stop waiting for a file that is written continuously; the next call retries. */
const waitTimeoutMs = 1000

export type ProjectSync = ReturnType<typeof createProjectSync>

/**
 * Creates the sync between files and store: imports edits of people and flushes acknowledged
 * changes.
 */
export function createProjectSync(deps: Deps) {
  const { db, store, snapshots, journal, folderOf, isProtected, now, log } = deps
  const states = new Map<string, ProjectState>()
  const broken = new Map<string, InvalidFile>()
  const unwritten = new Map<string, Unwritten>()
  const timers = new Map<string, NodeJS.Timeout>()
  /** Per-project mutex: an import must not run during a flush. */
  const locks = new Map<string, Promise<unknown>>()
  const polling = new Set<string>()
  const archive = createArchive({ db, store, journal, now, log })
  const texts = createTextWriter({ db, store, journal, folderOf, now })
  let isClosed = false

  type ProjectState = {
    readonly file: ProjectFile
    editor: YamlEditor | undefined
    recentEdits: readonly ImportedEdit[]
    /** The file has a person's text, which may lack changes of others. */
    hasPersonText: boolean
  }

  const withLock = <T>(project: string, act: () => Promise<T>): Promise<T> => {
    const turn = (locks.get(project) ?? Promise.resolve()).then(act)
    locks.set(
      project,
      turn.catch(() => undefined),
    )
    return turn
  }

  const getPath = (project: string) => join(folderOf(project), 'work-index.yaml')
  const openFile = (project: string, known?: string) =>
    createProjectFile(getPath(project), known, { isProtected })

  const createState = (file: ProjectFile, editor?: YamlEditor): ProjectState => ({
    file,
    editor,
    recentEdits: [],
    hasPersonText: false,
  })

  async function getState(project: string): Promise<ProjectState> {
    const known = states.get(project)
    if (known) return known
    const row = await store.project(db, project)
    const made = createState(openFile(project, row?.fileHash ?? undefined))
    states.set(project, made)
    return made
  }

  /** Imports all edits saved so far, or marks the file as invalid. */
  const importEdits = (project: string): Promise<void> => {
    const { file } = states.get(project) ?? {}
    // Fast path: an unchanged file does not wait for the mutex.
    if (file && !broken.has(project) && file.isUnchanged(now())) return Promise.resolve()
    return withLock(project, async () => void (await detectChanges(project)))
  }

  /** Returns false if the file is still being written. */
  async function detectChanges(project: string): Promise<boolean> {
    const state = await getState(project)
    for (const written of state.file.readLateSaves(now())) await merge(project, written, false)
    await texts.importLateSaves(project)
    const deadline = now() + waitTimeoutMs
    for (;;) {
      const seen = state.file.inspect(now())
      if (seen.as === 'same' || seen.as === 'missing') {
        broken.delete(project)
        if (seen.as === 'missing') scheduleFlush(project)
        return true
      }
      if (seen.as === 'unusable') {
        broken.set(project, toInvalidFile(project, [{ line: 1, column: 1, message: seen.message }]))
        return true
      }
      if (seen.as === 'changed') {
        if (!(await merge(project, seen, true))) return true
        state.file.accept(seen.hash)
      } else if (now() > deadline) return false
      else await sleep(20)
    }
  }

  const toInvalidFile = (project: string, problems: readonly Problem[]): InvalidFile => ({
    file: getPath(project),
    problems,
  })

  /** Returns false if the file is invalid; it is then not written until it is fixed. */
  async function merge(project: string, written: FileContent, isFile: boolean): Promise<boolean> {
    const { text, bytes } = written
    const read = await rejectEmptied(
      project,
      text,
      text.trim() === '' ? parseIndex('') : parseIndexBytes(bytes, text),
    )
    if (!read.ok) {
      if (isFile) broken.set(project, toInvalidFile(project, read.problems))
      else saveCopy(folderOf(project), bytes, now())
      return false
    }
    // A long text takes a while, so yield first.
    await yieldToEventLoop()
    // Saved before the merge; deleted afterwards if there is no conflict.
    let copy: ReturnType<typeof saveCopy>
    try {
      copy = saveCopy(folderOf(project), bytes, now())
    } catch (error) {
      const message = `Cannot import the file because its copy cannot be saved: ${errorMessage(error)}`
      broken.set(project, toInvalidFile(project, [{ line: 1, column: 1, message }]))
      return false
    }
    const state = await getState(project)
    const { recentEdits } = state
    const edit = {
      project,
      theirs: read.index,
      copy: copy.name,
      isFile,
      seen: recentEdits,
      at: now(),
    }
    const { seq, conflicts } = await db.transact((tx) => importEdit(tx, { store, journal }, edit))
    if (conflicts === 0) rmSync(copy.path, { force: true })
    state.recentEdits = [{ index: read.index, seq, isFile }, ...recentEdits].slice(
      0,
      maxRecentEdits,
    )
    if (isFile) {
      state.hasPersonText = true
      await yieldToEventLoop()
      state.editor = createYamlEditor(text, read.index)
      broken.delete(project)
    }
    scheduleFlush(project)
    return true
  }

  /**
   * Rejects an emptied file: the cause is a full disk or a killed editor, not a deletion of all
   * items.
   */
  async function rejectEmptied(
    project: string,
    text: string,
    read: ParseResult,
  ): Promise<ParseResult> {
    if (!read.ok || read.index.sprints.length + read.index.backlog.length > 0) return read
    const { sprints, backlog } = (await snapshots.current(project)).index()
    const stories = sprints.flatMap((sprint) => sprint.stories ?? [])
    const count = sprints.length + stories.length + backlog.length
    const isBlank = text.trim() === ''
    // A person can delete the only item.
    if (count === 0 || (count === 1 && !isBlank)) return read
    const message = isBlank
      ? 'The file is empty.'
      : `The file no longer has any of its ${count} items; keep at least one.`
    return { ok: false, problems: [{ line: 1, column: 1, message }] }
  }

  function scheduleFlush(project: string): void {
    if (isClosed || timers.has(project)) return
    timers.set(
      project,
      setTimeout(() => {
        timers.delete(project)
        flush(project).catch((error: unknown) => {
          log.error('sync: work file not written, retrying', {
            project,
            error: errorMessage(error),
          })
          setTimeout(() => scheduleFlush(project), 2000).unref()
        })
      }, flushDelayMs),
    )
  }

  /** Writes acknowledged changes to the files. A failure of one file does not stop the others. */
  const flush = (project: string): Promise<void> =>
    withLock(project, async () => {
      const errors: unknown[] = []
      const tryAction: TryAction = async (act) => {
        try {
          return await act()
        } catch (error) {
          errors.push(error)
          return false
        }
      }
      const isWritten = await tryAction(() => flushIndex(project, tryAction))
      if (!(await tryAction(() => texts.write(project))) && errors.length === 0)
        scheduleFlush(project)
      if (isWatching(project)) schedulePoll(project)
      if (errors.length > 0) {
        const since = unwritten.get(project)?.since ?? formatRfc3339(now())
        unwritten.set(project, { since, message: errorMessage(errors[0]) })
        throw errors[0]
      }
      if (isWritten) unwritten.delete(project)
    })

  const isWatching = (project: string): boolean =>
    states.get(project)?.file.isWatching() === true || texts.isWatching(project)

  /** Returns false if the file is invalid or still being written. */
  async function flushIndex(project: string, tryAction: TryAction): Promise<boolean> {
    for (;;) {
      // Calls wait for the mutex, so do not wait for a file that is written continuously.
      if (!(await detectChanges(project))) {
        scheduleFlush(project)
        return false
      }
      if (broken.has(project)) return false
      const state = await getState(project)
      const row = await store.project(db, project)
      if (!row) return false
      const snapshot = await snapshots.current(project)
      if (await tryAction(() => archive(snapshot, folderOf(project)))) continue
      const { seq } = snapshot
      const index = snapshot.index()
      const isMissing = state.file.inspect(now()).as === 'missing'
      if (
        isMissing ||
        state.hasPersonText ||
        (await store.hasUnflushedChanges(db, project, row.flushed))
      ) {
        const editor = state.editor ?? openEditor(state.file)
        // Kept only if all steps succeed: a partial change is not a valid state.
        state.editor = undefined
        // A long file takes a while, so yield between the steps.
        for (const _ of editor.steps(index)) await yieldToEventLoop()
        state.editor = editor
        if ((await state.file.write(editor.parts(), now)) === 'changed') continue
        state.hasPersonText = false
      }
      const fileHash = state.file.hash() ?? null
      await db.transact((tx) =>
        store.flushed(
          tx,
          { ...row, flushed: seq, fileHash, version: index.version },
          maxJournalChanges,
        ),
      )
      return true
    }
  }

  /** Polls for a late save into a replaced file, even without calls. */
  function schedulePoll(project: string): void {
    if (isClosed || polling.has(project)) return
    polling.add(project)
    setTimeout(() => {
      polling.delete(project)
      if (!states.has(project)) return
      withLock(project, () => detectChanges(project))
        .then(() => isWatching(project) && schedulePoll(project))
        .catch((error: unknown) =>
          log.error('sync: work file not checked', { project, error: errorMessage(error) }),
        )
    }, 500).unref()
  }

  async function flushPending(): Promise<void> {
    for (const { project, seq, flushed } of await store.projects(db))
      if (seq > flushed) scheduleFlush(project)
  }

  return {
    importEdits,
    /**
     * Records the text of a project that was just imported, so that it does not count as an edit.
     */
    markImported(project: string, text: string, index: WorkIndex): void {
      states.set(
        project,
        createState(openFile(project, sha256Hex(text)), createYamlEditor(text, index)),
      )
    },
    /** Reads the file of a project; undefined if it is missing or unreadable. */
    readFile(project: string): Buffer | undefined {
      try {
        return openFile(project).read()
      } catch {
        return undefined
      }
    },
    broken: (project: string) => broken.get(project),
    unwritten: (project: string) => unwritten.get(project),
    flush,
    flushPending,
    /** Flushes what the previous process left. */
    async start(): Promise<void> {
      await flushPending()
      for (const project of await store.texts.projects(db)) scheduleFlush(project)
    },
    forget(project: string): void {
      states.delete(project)
      broken.delete(project)
      unwritten.delete(project)
      texts.forget(project)
      clearTimeout(timers.get(project))
      timers.delete(project)
    },
    async close(): Promise<void> {
      const waiting = [...timers.keys()]
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.allSettled(waiting.map(flush))
      await Promise.allSettled(locks.values())
    },
  }

  /** Opens an editor on a file that was just found unchanged or missing. */
  function openEditor({ path, read: readBytes }: ProjectFile): YamlEditor {
    const bytes = readBytes() ?? Buffer.from(newIndexText())
    const text = bytes.toString('utf8')
    const read = parseIndexBytes(bytes, text)
    if (read.ok) return createYamlEditor(text, read.index)
    const [first] = read.problems
    throw new CoworkError(
      'work_file_broken',
      `${path}:${first?.line}:${first?.column}: ${first?.message}`,
    )
  }
}
