import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { WorkParts } from '../journal.ts'
import type { MergeConflict } from '../merge/merge.ts'
import type { Conflict } from '../model.ts'
import type { PendingText } from '../text-store.ts'
import { folderInside, saveCopy } from './confined-read.ts'
import { toFileName, parseFileName } from './file-name.ts'
import { createProjectFile } from './project-file.ts'
import type { ProjectFile, FileContent } from './project-file.ts'
import { toConflict, fileEditorId, isKnownConflict, mergedEntry } from './import-edit.ts'
import { maxTextBytes, readTextFile, statTextFile, textPath } from './text-search.ts'

type Deps = Omit<WorkParts, 'log'> & { readonly folderOf: (project: string) => string }

/** Give up after this many concurrent saves; the flush retries later. */
const mostTries = 5

/**
 * Creates the writer of acknowledged backlog texts to their files (W25). A concurrent save of a
 * person is copied and becomes a conflict, as with a field of the work index (W5).
 */
export function createTextWriter({ db, store, journal, folderOf, now }: Deps) {
  /**
   * Recently written files by project and name: an editor may still save into the replaced file.
   */
  const lately = new Map<string, Map<string, ProjectFile>>()
  /** Late saves by project that are not yet reported as conflicts. */
  const untold = new Map<string, { readonly id: string; readonly written: FileContent }[]>()

  const ownOf = (project: string) => join(folderOf(project), '.cowork', 'backlog')

  function filesOf(project: string): Map<string, ProjectFile> {
    const known = lately.get(project)
    if (known) return known
    const files = new Map<string, ProjectFile>()
    lately.set(project, files)
    for (const name of namesIn(ownOf(project))) files.set(name, fileAt(project, name))
    return files
  }

  const fileAt = (project: string, name: string): ProjectFile =>
    createProjectFile(
      join(folderOf(project), 'BACKLOG', `${name}.md`),
      undefined,
      // A text that is a symbolic link is never followed (W25).
      { own: join(ownOf(project), name), isProtected: () => true },
    )

  function fileOf(project: string, id: string): ProjectFile {
    const [files, name] = [filesOf(project), toFileName(id)]
    const file = files.get(name) ?? fileAt(project, name)
    files.set(name, file)
    return file
  }

  /** Returns false if a file is being written, so that the flush retries. */
  async function write(project: string): Promise<boolean> {
    const waiting = await store.texts.pending(db, project)
    let isDone = true
    let fault: string | undefined
    for (const [id, texts] of Map.groupBy(waiting, (text) => text.id))
      try {
        if (!(await writeOne(project, id, texts))) isDone = false
      } catch (error) {
        fault ??= `Cannot write ${textPath(id)} of ${project}: ${errorMessage(error)}.`
      }
    if (waiting.length > 0) await takeLate(project)
    if (fault === undefined) return isDone
    throw new CoworkError('work_file_broken', fault, {
      hint: 'Remove what blocks the file; cowork keeps the text until then.',
    })
  }

  async function writeOne(
    project: string,
    id: string,
    texts: readonly PendingText[],
  ): Promise<boolean> {
    const last = texts.at(-1)
    if (!last) return true
    const folder = folderOf(project)
    const standing = statTextFile(folder, id)
    if (typeof standing === 'object') throw new Error(standing.why)
    const file = fileOf(project, id)
    // Texts with these hashes can be replaced: a caller read them, or cowork wrote them.
    const known = new Set(texts.flatMap(({ base, sha256 }) => [base, sha256]))
    folderInside(folder, 'BACKLOG')
    for (let tries = 0; tries < mostTries; tries++) {
      const found = readTextFile(folder, id)
      if (found.as === 'text' && known.has(found.sha256)) file.accept(found.sha256)
      const seen = file.look(now())
      if (seen.as === 'unusable') throw new Error(seen.message)
      if (seen.as === 'unsettled') return false
      if (seen.as === 'changed') {
        await tell(project, id, seen, last.text)
        file.accept(seen.hash)
      }
      if ((await file.write([last.text], now)) === 'changed') continue
      await db.transact((tx) => store.texts.written(tx, project, id, last.seq))
      return true
    }
    return false
  }

  /** Saves a copy of a person's concurrent text and records a conflict. */
  async function tell(project: string, id: string, written: FileContent, ours: string) {
    const { text: theirs, bytes } = written
    const copy = saveCopy(folderOf(project), bytes, now(), 'md')
    const mergeConflict: MergeConflict = {
      item: id,
      of: 'backlog',
      field: 'text',
      kind: 'same_field',
      ours,
      ...(Buffer.byteLength(theirs) <= maxTextBytes && { theirs }),
    }
    const isNew = await db.transact(async (tx) => {
      const held = await journal.lockProject(tx, project)
      const known = await store.listByKind(tx, project, 'conflict')
      if (known.some(({ item }) => isKnownConflict(item as Conflict, mergeConflict))) return false
      const conflict = toConflict(mergeConflict, copy.name, now())
      const step = { kind: 'conflict', id: conflict.id, before: undefined } as const
      const who = { by: fileEditorId, at: now(), external: true } as const
      await journal.write(tx, held, who, [{ ...step, after: { item: conflict } }])
      tx.append(mergedEntry(project, 1, [id], [conflict], copy.name))
      return true
    })
    if (!isNew) rmSync(copy.path, { force: true })
  }

  async function takeLate(project: string): Promise<void> {
    const files = filesOf(project)
    const late = untold.get(project) ?? []
    for (const [name, file] of files) {
      late.push(...file.late(now()).map((written) => ({ id: parseFileName(name), written })))
      if (file.isWatching()) continue
      files.delete(name)
      tidy(join(ownOf(project), name))
    }
    if (late.length === 0) return
    untold.set(project, late)
    for (let one = late[0]; one; one = late[0]) {
      const found = readTextFile(folderOf(project), one.id)
      try {
        await tell(project, one.id, one.written, found.as === 'text' ? found.text : '')
      } catch {
        // For example a full disk: calls continue, and the report is retried.
        return
      }
      late.shift()
    }
  }

  return {
    write,
    takeLate,
    isWatching: (project: string): boolean =>
      (untold.get(project) ?? []).length > 0 ||
      [...(lately.get(project)?.values() ?? [])].some((file) => file.isWatching()),
    forget(project: string): void {
      lately.delete(project)
      untold.delete(project)
    },
  }
}

/** Lists the leftovers of a killed process, one folder per file name. */
function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}

function tidy(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Missing or not empty.
  }
}
