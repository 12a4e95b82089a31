import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { systemActor } from '#base/entry.ts'
import type { ProjectSnapshot } from '../project-cache.ts'
import type { JournalStep, WorkParts } from '../journal.ts'
import { canonicalKey } from '../merge/lists.ts'
import type { HistoryEntry, WorkIndex } from '../model.ts'
import type { Stored } from '../store.ts'
import { parseIndex, parseIndexBytes } from '../yaml/read.ts'
import type { ParseResult } from '../yaml/read.ts'
import { emitNewItem } from '../yaml/rewrite.ts'
import { createYamlEditor } from '../yaml/yaml-editor.ts'
import { toFileName } from './file-name.ts'
import { createFolderInside, readInside, readTextInside } from './confined-read.ts'

/**
 * With more history entries than the first number, the oldest move to COMPLETE/ until the second is
 * left.
 */
const maxHistory = 500
const retainedHistory = 400

/**
 * Creates the archiver: it writes archived sprints and old history to COMPLETE/, then removes them
 * from the index (W25).
 */
export function createArchive({ db, store, journal, now, log }: WorkParts) {
  return async function archive(snapshot: ProjectSnapshot, folder: string): Promise<boolean> {
    const done = snapshot.sprints().filter(({ item }) => item['archived'] === true)
    const history = snapshot.history()
    const old =
      history.length > maxHistory ? history.slice(0, history.length - retainedHistory) : []
    if (done.length === 0 && old.length === 0) return false
    const complete = createFolderInside(folder, 'COMPLETE')
    // Written first, so that a crash never loses an item; it can only be in both places.
    for (const { item } of done) {
      const stories = snapshot.stories().filter(({ sprint }) => sprint === item.id)
      const { archived: _, ...own } = item
      const whole = { ...own, stories: stories.map((story) => story.item) }
      const text = `version: 2\nsprints:\n${emitNewItem(whole, 2, '\n')}`
      writeSprint(complete, item.id, text)
    }
    if (old.length > 0) writeHistory(complete, old)
    await removeArchived(snapshot.project, new Set(done.map(({ item }) => item.id)), old.length)
    return true
  }

  /**
   * Appends old entries to the history file, or to a new file with a note if that file is invalid.
   */
  function writeHistory(complete: string, entries: readonly HistoryEntry[]): void {
    let note = ''
    for (let n = 1; ; n++) {
      const name = n === 1 ? 'history.yaml' : `history~${n}.yaml`
      const path = join(complete, name)
      const found = readHistory(complete, name, `${note}version: 2\nhistory: []\n`)
      if (found.read.ok) {
        // A sprint of this name was archived there.
        if (n > 1 && found.read.index.sprints.length > 0) continue
        return addHistory(path, found.text, found.read.index, entries)
      }
      const [first] = found.read.problems
      note = `# ${name} could not be read at ${first?.line}:${first?.column}: ${first?.message}\n`
      log.warn('archive: history file invalid, using the next one', { path, note })
    }
  }

  function removeArchived(
    project: string,
    sprints: ReadonlySet<string>,
    entries: number,
  ): Promise<void> {
    return db.transact(async (tx) => {
      const row = await journal.lockProject(tx, project)
      const removed: Stored[] = []
      for (const id of sprints) {
        const sprint = await store.item(tx, project, 'sprint', id)
        if (sprint) removed.push(sprint, ...(await store.listStories(tx, project, id)))
      }
      const oldest = entries > 0 ? await store.listByKind(tx, project, 'history') : []
      const steps: JournalStep[] = [...removed, ...oldest.slice(0, entries)].map((before) => ({
        kind: before.kind,
        id: before.id,
        before,
        after: undefined,
      }))
      await journal.write(tx, row, { by: 'cowork', at: now() }, steps)
      tx.append({
        type: 'work.archived',
        actor: systemActor,
        domain: 'work',
        subject: project,
        data: { sprints: [...sprints], history: entries },
      })
    })
  }
}

/** Writes an archived sprint without overwriting an earlier one of the same id or the history. */
function writeSprint(folder: string, id: string, text: string): void {
  const name = toFileName(id)
  for (let n = 1; ; n++) {
    const file = n === 1 ? `${name}.yaml` : `${name}~${n}.yaml`
    const path = join(folder, file)
    const isFree = n > 1 || name !== 'history'
    if (isFree && !existsSync(path)) return writeFileAtomic(path, text, 0o644)
    if (isFree && readTextInside(folder, file) === text) return
  }
}

function readHistory(
  folder: string,
  name: string,
  empty: string,
): { readonly text: string; readonly read: ParseResult } {
  if (!existsSync(join(folder, name))) return { text: empty, read: parseIndex(empty) }
  const bytes = readInside(folder, name)
  const text = bytes.toString('utf8')
  return { text, read: parseIndexBytes(bytes, text) }
}

/**
 * Adds entries like an edit of the work index: other content stays, and the result is validated.
 */
function addHistory(
  path: string,
  text: string,
  index: WorkIndex,
  entries: readonly HistoryEntry[],
): void {
  const known = new Set(index.history.map(canonicalKey))
  const more = entries.filter((entry) => !known.has(canonicalKey(entry)))
  if (more.length === 0) return
  const editor = createYamlEditor(text, index)
  editor.update({ ...index, history: [...index.history, ...more] })
  writeFileAtomic(path, editor.text(), 0o644)
}
