import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as othersTurn, setTimeout as sleep } from 'node:timers/promises'
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
type Tried = (act: () => Promise<boolean>) => Promise<boolean>

/** Maximum delay between an acknowledged change and its flush (W7). */
const flushMs = 250
/** Number of changes kept as possible merge bases for a save of an old version. */
const journalKept = 2000
/**
 * Number of imported edits kept as possible merge bases: an editor continues from its last save.
 */
const seenKept = 3
/** Stop waiting for a file that is written continuously; the next call retries. */
const patienceMs = 1000

export type ProjectSync = ReturnType<typeof createProjectSync>

/**
 * Creates the sync between files and store: imports edits of people and flushes acknowledged
 * changes.
 */
export function createProjectSync(deps: Deps) {
  const { db, store, snapshots, journal, folderOf, isProtected, now, log } = deps
  const kept = new Map<string, Kept>()
  const broken = new Map<string, InvalidFile>()
  const unwritten = new Map<string, Unwritten>()
  const timers = new Map<string, NodeJS.Timeout>()
  /** Per-project mutex: an import must not run during a flush. */
  const turns = new Map<string, Promise<unknown>>()
  const looking = new Set<string>()
  const tidy = createArchive({ db, store, journal, now, log })
  const texts = createTextWriter({ db, store, journal, folderOf, now })
  let isClosed = false

  type Kept = {
    readonly file: ProjectFile
    sheet: YamlEditor | undefined
    seen: readonly ImportedEdit[]
    /** The file has a person's text, which may lack changes of others. */
    isTheirs: boolean
  }

  const inTurn = <T>(project: string, act: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(project) ?? Promise.resolve()).then(act)
    turns.set(
      project,
      turn.catch(() => undefined),
    )
    return turn
  }

  const pathOf = (project: string) => join(folderOf(project), 'work-index.yaml')
  const fileOf = (project: string, known?: string) =>
    createProjectFile(pathOf(project), known, { isProtected })

  const keptAs = (file: ProjectFile, sheet?: YamlEditor): Kept => ({
    file,
    sheet,
    seen: [],
    isTheirs: false,
  })

  async function keptOf(project: string): Promise<Kept> {
    const known = kept.get(project)
    if (known) return known
    const row = await store.project(db, project)
    const made = keptAs(fileOf(project, row?.fileHash ?? undefined))
    kept.set(project, made)
    return made
  }

  /** Imports all edits saved so far, or marks the file as invalid. */
  const importEdits = (project: string): Promise<void> => {
    const { file } = kept.get(project) ?? {}
    // Fast path: an unchanged file does not wait for the mutex.
    if (file && !broken.has(project) && file.isQuiet(now())) return Promise.resolve()
    return inTurn(project, async () => void (await look(project)))
  }

  /** Returns false if the file is still being written. */
  async function look(project: string): Promise<boolean> {
    const own = await keptOf(project)
    for (const written of own.file.late(now())) await merge(project, written, false)
    await texts.takeLate(project)
    const deadline = now() + patienceMs
    for (;;) {
      const seen = own.file.look(now())
      if (seen.as === 'same' || seen.as === 'missing') {
        broken.delete(project)
        if (seen.as === 'missing') flushSoon(project)
        return true
      }
      if (seen.as === 'unusable') {
        broken.set(project, brokenFile(project, [{ line: 1, column: 1, message: seen.message }]))
        return true
      }
      if (seen.as === 'changed') {
        if (!(await merge(project, seen, true))) return true
        own.file.accept(seen.hash)
      } else if (now() > deadline) return false
      else await sleep(20)
    }
  }

  const brokenFile = (project: string, problems: readonly Problem[]): InvalidFile => ({
    file: pathOf(project),
    problems,
  })

  /** Returns false if the file is invalid; it is then not written until it is fixed. */
  async function merge(project: string, written: FileContent, isFile: boolean): Promise<boolean> {
    const { text, bytes } = written
    const read = await notEmptied(
      project,
      text,
      text.trim() === '' ? parseIndex('') : parseIndexBytes(bytes, text),
    )
    if (!read.ok) {
      if (isFile) broken.set(project, brokenFile(project, read.problems))
      else saveCopy(folderOf(project), bytes, now())
      return false
    }
    // A long text takes a while, so yield first.
    await othersTurn()
    // Saved before the merge; deleted afterwards if there is no conflict.
    let copy: ReturnType<typeof saveCopy>
    try {
      copy = saveCopy(folderOf(project), bytes, now())
    } catch (error) {
      const message = `Cannot import the file because its copy cannot be saved: ${errorMessage(error)}`
      broken.set(project, brokenFile(project, [{ line: 1, column: 1, message }]))
      return false
    }
    const own = await keptOf(project)
    const { seen } = own
    const edit = { project, theirs: read.index, copy: copy.name, isFile, seen, at: now() }
    const { seq, conflicts } = await db.transact((tx) => importEdit(tx, { store, journal }, edit))
    if (conflicts === 0) rmSync(copy.path, { force: true })
    own.seen = [{ index: read.index, seq, isFile }, ...seen].slice(0, seenKept)
    if (isFile) {
      own.isTheirs = true
      await othersTurn()
      own.sheet = createYamlEditor(text, read.index)
      broken.delete(project)
    }
    flushSoon(project)
    return true
  }

  /**
   * Rejects an emptied file: the cause is a full disk or a killed editor, not a deletion of all
   * items.
   */
  async function notEmptied(
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

  function flushSoon(project: string): void {
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
          setTimeout(() => flushSoon(project), 2000).unref()
        })
      }, flushMs),
    )
  }

  /** Writes acknowledged changes to the files. A failure of one file does not stop the others. */
  const flush = (project: string): Promise<void> =>
    inTurn(project, async () => {
      const faults: unknown[] = []
      const tried: Tried = async (act) => {
        try {
          return await act()
        } catch (error) {
          faults.push(error)
          return false
        }
      }
      const isWritten = await tried(() => flushIndex(project, tried))
      if (!(await tried(() => texts.write(project))) && faults.length === 0) flushSoon(project)
      if (isWatching(project)) lookLater(project)
      if (faults.length > 0) {
        const since = unwritten.get(project)?.since ?? formatRfc3339(now())
        unwritten.set(project, { since, message: errorMessage(faults[0]) })
        throw faults[0]
      }
      if (isWritten) unwritten.delete(project)
    })

  const isWatching = (project: string): boolean =>
    kept.get(project)?.file.isWatching() === true || texts.isWatching(project)

  /** Returns false if the file is invalid or still being written. */
  async function flushIndex(project: string, tried: Tried): Promise<boolean> {
    for (;;) {
      // Calls wait for the mutex, so do not wait for a file that is written continuously.
      if (!(await look(project))) {
        flushSoon(project)
        return false
      }
      if (broken.has(project)) return false
      const own = await keptOf(project)
      const row = await store.project(db, project)
      if (!row) return false
      const snapshot = await snapshots.current(project)
      if (await tried(() => tidy(snapshot, folderOf(project)))) continue
      const { seq } = snapshot
      const index = snapshot.index()
      const isMissing = own.file.look(now()).as === 'missing'
      if (
        isMissing ||
        own.isTheirs ||
        (await store.hasUnflushedChanges(db, project, row.flushed))
      ) {
        const sheet = own.sheet ?? sheetOf(own.file)
        // Kept only if all steps succeed: a partial change is not a valid state.
        own.sheet = undefined
        // A long file takes a while, so yield between the steps.
        for (const _ of sheet.steps(index)) await othersTurn()
        own.sheet = sheet
        if ((await own.file.write(sheet.parts(), now)) === 'changed') continue
        own.isTheirs = false
      }
      const fileHash = own.file.hash() ?? null
      await db.transact((tx) =>
        store.flushed(tx, { ...row, flushed: seq, fileHash, version: index.version }, journalKept),
      )
      return true
    }
  }

  /** Polls for a late save into a replaced file, even without calls. */
  function lookLater(project: string): void {
    if (isClosed || looking.has(project)) return
    looking.add(project)
    setTimeout(() => {
      looking.delete(project)
      if (!kept.has(project)) return
      inTurn(project, () => look(project))
        .then(() => isWatching(project) && lookLater(project))
        .catch((error: unknown) =>
          log.error('sync: work file not checked', { project, error: errorMessage(error) }),
        )
    }, 500).unref()
  }

  async function flushBehind(): Promise<void> {
    for (const { project, seq, flushed } of await store.projects(db))
      if (seq > flushed) flushSoon(project)
  }

  return {
    importEdits,
    /**
     * Records the text of a project that was just imported, so that it does not count as an edit.
     */
    adopted(project: string, text: string, index: WorkIndex): void {
      kept.set(project, keptAs(fileOf(project, sha256Hex(text)), createYamlEditor(text, index)))
    },
    /** Reads the file of a project; undefined if it is missing or unreadable. */
    readFile(project: string): Buffer | undefined {
      try {
        return fileOf(project).read()
      } catch {
        return undefined
      }
    },
    broken: (project: string) => broken.get(project),
    unwritten: (project: string) => unwritten.get(project),
    flush,
    flushBehind,
    /** Flushes what the previous process left. */
    async start(): Promise<void> {
      await flushBehind()
      for (const project of await store.texts.projects(db)) flushSoon(project)
    },
    forget(project: string): void {
      kept.delete(project)
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
      await Promise.allSettled(turns.values())
    },
  }

  /** Opens an editor on a file that was just found unchanged or missing. */
  function sheetOf({ path, read: readBytes }: ProjectFile): YamlEditor {
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
