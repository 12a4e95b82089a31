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
  readonly boards: ProjectCache
  readonly folderOf: (project: string) => string
  /** Whether a plan that is a link may not lead to this path (PV4). */
  readonly isProtected: (path: string) => boolean
}

/** Why a project's file cannot be used: reads serve what was known, changes are refused (W6). */
export type InvalidFile = { readonly file: string; readonly problems: readonly Problem[] }

/** Why a file does not say what the store says, since when, and that it is tried again (W7). */
type Unwritten = { readonly since: string; readonly message: string }

/** Does something; false where it throws, which is told when the rest is done. */
type Tried = (act: () => Promise<boolean>) => Promise<boolean>

/** A change is in the file so long after it was acknowledged, at most. */
const flushMs = 250
/** Versions of the last so many changes can be told from each other when somebody saves an old one. */
const journalKept = 2000
/** Texts of people that are remembered: an editor goes on from what it saved. */
const seenKept = 3
/** A file that is written all the time is looked at again with the next call. */
const patienceMs = 1000

export type ProjectSync = ReturnType<typeof createProjectSync>

/** Keeps files and store in agreement: takes over what people write, writes what was acknowledged. */
export function createProjectSync(deps: Deps) {
  const { db, store, boards, journal, folderOf, isProtected, now, log } = deps
  const kept = new Map<string, Kept>()
  const broken = new Map<string, InvalidFile>()
  const unwritten = new Map<string, Unwritten>()
  const timers = new Map<string, NodeJS.Timeout>()
  /** One at a time for each project: looking and writing would see each other's halves. */
  const turns = new Map<string, Promise<unknown>>()
  const looking = new Set<string>()
  const tidy = createArchive({ db, store, journal, now, log })
  const texts = createTextWriter({ db, store, journal, folderOf, now })
  let isClosed = false

  type Kept = {
    readonly file: ProjectFile
    sheet: YamlEditor | undefined
    seen: readonly ImportedEdit[]
    /** The file has a text of theirs, which may lack what others changed. */
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

  /** Whatever people have written by now is in the store when it resolves, or is known to be broken. */
  const notice = (project: string): Promise<void> => {
    const { file } = kept.get(project) ?? {}
    // Nothing to do, as nearly always: not even a turn is waited for.
    if (file && !broken.has(project) && file.isQuiet(now())) return Promise.resolve()
    return inTurn(project, async () => void (await look(project)))
  }

  /** False where somebody is still writing the file. */
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

  /** False where it cannot be read; the file is then left alone until somebody mends it. */
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
    // A long text takes a while: others have their turn in between.
    await othersTurn()
    // Kept before anything is decided: it goes again where nobody has to look at it.
    let copy: ReturnType<typeof saveCopy>
    try {
      copy = saveCopy(folderOf(project), bytes, now())
    } catch (error) {
      const message = `It cannot be taken over, for no copy of it can be kept: ${errorMessage(error)}`
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

  /** A disk that was full, an editor that was ended: nobody takes back a whole plan that way. */
  async function notEmptied(
    project: string,
    text: string,
    read: ParseResult,
  ): Promise<ParseResult> {
    if (!read.ok || read.index.sprints.length + read.index.backlog.length > 0) return read
    const { sprints, backlog } = (await boards.current(project)).index()
    const stories = sprints.flatMap((sprint) => sprint.stories ?? [])
    const count = sprints.length + stories.length + backlog.length
    const isBlank = text.trim() === ''
    // Whoever had one thing only may delete it.
    if (count === 0 || (count === 1 && !isBlank)) return read
    const message = isBlank
      ? 'The file is empty.'
      : `None of ${count} items is left in the file; leave one if that is meant.`
    return { ok: false, problems: [{ line: 1, column: 1, message }] }
  }

  function flushSoon(project: string): void {
    if (isClosed || timers.has(project)) return
    timers.set(
      project,
      setTimeout(() => {
        timers.delete(project)
        flush(project).catch((error: unknown) => {
          log.error('a work file could not be written; it is tried again', {
            project,
            error: errorMessage(error),
          })
          setTimeout(() => flushSoon(project), 2000).unref()
        })
      }, flushMs),
    )
  }

  /** Makes the files say what the store says. Whatever is in the way of one of them does not hold up the rest. */
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

  /** False where somebody has to do something first. */
  async function flushIndex(project: string, tried: Tried): Promise<boolean> {
    for (;;) {
      // Calls wait for their turn meanwhile: what is written without end is not waited for.
      if (!(await look(project))) {
        flushSoon(project)
        return false
      }
      if (broken.has(project)) return false
      const own = await keptOf(project)
      const row = await store.project(db, project)
      if (!row) return false
      const board = await boards.current(project)
      if (await tried(() => tidy(board, folderOf(project)))) continue
      const { seq } = board
      const index = board.index()
      const isMissing = own.file.look(now()).as === 'missing'
      if (isMissing || own.isTheirs || (await store.hasNews(db, project, row.flushed))) {
        const sheet = own.sheet ?? sheetOf(own.file)
        // Taken up again only if it got to its end: half of a change says nothing that anybody meant.
        own.sheet = undefined
        // A long file takes a while: others have their turn between the steps.
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

  /** A late save into what has been replaced is found although nobody calls. */
  function lookLater(project: string): void {
    if (isClosed || looking.has(project)) return
    looking.add(project)
    setTimeout(() => {
      looking.delete(project)
      if (!kept.has(project)) return
      inTurn(project, () => look(project))
        .then(() => isWatching(project) && lookLater(project))
        .catch((error: unknown) =>
          log.error('a work file could not be looked at', { project, error: errorMessage(error) }),
        )
    }, 500).unref()
  }

  async function flushBehind(): Promise<void> {
    for (const { project, seq, flushed } of await store.projects(db))
      if (seq > flushed) flushSoon(project)
  }

  return {
    notice,
    /** A project that the store has just taken over as this text says; a file that says so is no edit. */
    adopted(project: string, text: string, index: WorkIndex): void {
      kept.set(project, keptAs(fileOf(project, sha256Hex(text)), createYamlEditor(text, index)))
    },
    /** What the file of a project says; nothing where there is none, or none that may be read. */
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
    /** What a process before this one did not get to. */
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

  /** Only after a look found the file as it is known, or missing. */
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
