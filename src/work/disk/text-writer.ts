import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { WorkParts } from '../journal.ts'
import type { MergeConflict } from '../merge/merge.ts'
import type { Conflict } from '../model.ts'
import type { PendingText } from '../text-store.ts'
import { createFolderInside, saveCopy } from './confined-read.ts'
import { toFileName, parseFileName } from './file-name.ts'
import { createProjectFile } from './project-file.ts'
import type { ProjectFile, FileContent } from './project-file.ts'
import { toConflict, fileEditorId, isKnownConflict, mergedEntry } from './import-edit.ts'
import { maxTextBytes, readTextFile, statTextFile, textPath } from './text-search.ts'

type Deps = Omit<WorkParts, 'log'> & { readonly folderOf: (project: string) => string }

/** Give up after this many concurrent saves; the flush retries later. */
const maxAttempts = 5

/**
 * Creates the writer of acknowledged backlog texts to their files (W25). A concurrent save of a
 * person is copied and becomes a conflict, as with a field of the work index (W5).
 */
export function createTextWriter({ db, store, journal, folderOf, now }: Deps) {
  /**
   * Recently written files by project and name: an editor may still save into the replaced file.
   */
  const recentFiles = new Map<string, Map<string, ProjectFile>>()
  /** Late saves by project that are not yet reported as conflicts. */
  const lateSaves = new Map<string, { readonly id: string; readonly written: FileContent }[]>()

  const getBackupFolder = (project: string) => join(folderOf(project), '.cowork', 'backlog')

  function getRecentFiles(project: string): Map<string, ProjectFile> {
    const known = recentFiles.get(project)
    if (known) return known
    const files = new Map<string, ProjectFile>()
    recentFiles.set(project, files)
    for (const name of listFolders(getBackupFolder(project)))
      files.set(name, openByName(project, name))
    return files
  }

  const openByName = (project: string, name: string): ProjectFile =>
    createProjectFile(
      join(folderOf(project), 'BACKLOG', `${name}.md`),
      undefined,
      // A text that is a symbolic link is never followed (W25).
      { backupFolder: join(getBackupFolder(project), name), isProtected: () => true },
    )

  function openById(project: string, id: string): ProjectFile {
    const [files, name] = [getRecentFiles(project), toFileName(id)]
    const file = files.get(name) ?? openByName(project, name)
    files.set(name, file)
    return file
  }

  /** Returns false if a file is being written, so that the flush retries. */
  async function write(project: string): Promise<boolean> {
    const pending = await store.texts.pending(db, project)
    let isDone = true
    let failure: string | undefined
    for (const [id, texts] of Map.groupBy(pending, (text) => text.id))
      try {
        if (!(await writeText(project, id, texts))) isDone = false
      } catch (error) {
        failure ??= `Cannot write ${textPath(id)} of ${project}: ${errorMessage(error)}.`
      }
    if (pending.length > 0) await importLateSaves(project)
    if (failure === undefined) return isDone
    throw new CoworkError('work_file_broken', failure, {
      hint: 'Fix the cause; until then cowork keeps the text.',
    })
  }

  async function writeText(
    project: string,
    id: string,
    texts: readonly PendingText[],
  ): Promise<boolean> {
    const last = texts.at(-1)
    if (!last) return true
    const folder = folderOf(project)
    const state = statTextFile(folder, id)
    if (typeof state === 'object') throw new Error(state.why)
    const file = openById(project, id)
    // Texts with these hashes can be replaced: a caller read them, or cowork wrote them.
    const known = new Set(texts.flatMap(({ base, sha256 }) => [base, sha256]))
    createFolderInside(folder, 'BACKLOG')
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const found = readTextFile(folder, id)
      if (found.as === 'text' && known.has(found.sha256)) file.accept(found.sha256)
      const seen = file.inspect(now())
      if (seen.as === 'unusable') throw new Error(seen.message)
      if (seen.as === 'unsettled') return false
      if (seen.as === 'changed') {
        await recordConflict(project, id, seen, last.text)
        file.accept(seen.hash)
      }
      if ((await file.write([last.text], now)) === 'changed') continue
      await db.transact((tx) => store.texts.written(tx, project, id, last.seq))
      return true
    }
    return false
  }

  /** Saves a copy of a person's concurrent text and records a conflict. */
  async function recordConflict(project: string, id: string, written: FileContent, ours: string) {
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
      const row = await journal.lockProject(tx, project)
      const known = await store.listByKind(tx, project, 'conflict')
      if (known.some(({ item }) => isKnownConflict(item as Conflict, mergeConflict))) return false
      const conflict = toConflict(mergeConflict, copy.name, now())
      const step = { kind: 'conflict', id: conflict.id, before: undefined } as const
      const author = { by: fileEditorId, at: now(), external: true } as const
      await journal.write(tx, row, author, [{ ...step, after: { item: conflict } }])
      tx.append(mergedEntry(project, 1, [id], [conflict], copy.name))
      return true
    })
    if (!isNew) rmSync(copy.path, { force: true })
  }

  async function importLateSaves(project: string): Promise<void> {
    const files = getRecentFiles(project)
    const late = lateSaves.get(project) ?? []
    for (const [name, file] of files) {
      late.push(
        ...file.readLateSaves(now()).map((written) => ({ id: parseFileName(name), written })),
      )
      if (file.isWatching()) continue
      files.delete(name)
      removeEmptyFolder(join(getBackupFolder(project), name))
    }
    if (late.length === 0) return
    lateSaves.set(project, late)
    for (let one = late[0]; one; one = late[0]) {
      const found = readTextFile(folderOf(project), one.id)
      try {
        await recordConflict(project, one.id, one.written, found.as === 'text' ? found.text : '')
      } catch {
        // For example a full disk: calls continue, and the report is retried.
        return
      }
      late.shift()
    }
  }

  return {
    write,
    importLateSaves,
    isWatching: (project: string): boolean =>
      (lateSaves.get(project) ?? []).length > 0 ||
      [...(recentFiles.get(project)?.values() ?? [])].some((file) => file.isWatching()),
    forget(project: string): void {
      recentFiles.delete(project)
      lateSaves.delete(project)
    },
  }
}

/** Lists the leftovers of a killed process, one folder per file name. */
function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}

function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Missing or not empty.
  }
}
