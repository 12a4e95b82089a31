// A work index in a real store, edited by agents and people, without files, for import tests.
import type { Db } from '#base/db/port.ts'
import { createJournal } from '../../src/work/journal.ts'
import type { JournalStep } from '../../src/work/journal.ts'
import type { ImportedEdit } from '../../src/work/merge/merge-base.ts'
import type {
  BacklogItem,
  Conflict,
  HistoryEntry,
  ItemKind,
  Story,
  WorkIndex,
} from '../../src/work/model.ts'
import { parseStoryNumber } from '../../src/work/rules.ts'
import { createWorkStore } from '../../src/work/store.ts'
import { importProject, buildIndex, importEdit } from '../../src/work/disk/import-edit.ts'

export const story = (id: string, more: Partial<Story> = {}): Story => ({
  id,
  title: id,
  status: 'planned',
  ...more,
})
export const item = (id: string): BacklogItem => ({ id, summary: id, status: 'todo' })

const start: WorkIndex = {
  version: 2,
  next_story: 3,
  sprints: [{ id: 'one', status: 'active', stories: [story('STORY-1'), story('STORY-2')] }],
  backlog: [item('later'), item('never')],
  history: [],
  conflicts: [],
}

let count = 0

/** The file is simulated: it has the content of the store at the last write. */
export async function openPlan(db: Db) {
  const store = createWorkStore(db.dialect)
  const journal = createJournal(store)
  const project = `p${++count}`
  let time = Date.parse('2026-01-01')
  let seen: readonly ImportedEdit[] = []
  await db.transact((tx) => importProject(tx, store, project, start))

  /** Changes an item as a tool does, with author and time; the file follows. */
  async function agent(kind: ItemKind, id: string, fields?: object) {
    const updated = new Date((time += 1000)).toISOString()
    await db.transact(async (tx) => {
      const held = await journal.lockProject(tx, project)
      const before = await store.item(tx, project, kind, id)
      const rev = (before?.rev ?? 0) + 1
      const whole = { ...before?.item, id, ...fields, rev, updated, by: 'agent' }
      const after = fields && { item: whole, sprint: kind === 'story' ? 'one' : null }
      if (!before && !after) return
      const steps: JournalStep[] = [{ kind, id, before, after }]
      const next =
        kind === 'story' ? Math.max(held.nextStory, parseStoryNumber(id) + 1) : held.nextStory
      await journal.write(tx, held, { by: 'agent', at: time }, steps, next)
    })
  }
  async function remember(summary: string) {
    const at = new Date((time += 1000)).toISOString()
    const entry: HistoryEntry = { date: at.slice(0, 10), summary, at, by: 'agent' }
    await db.transact(async (tx) => {
      const held = await journal.lockProject(tx, project)
      const step = { kind: 'history' as const, id: at, before: undefined, after: { item: entry } }
      await journal.write(tx, held, { by: 'agent', at: time }, [step])
    })
  }
  const now = async (): Promise<WorkIndex> => {
    const row = await store.project(db, project)
    return buildIndex(await store.items(db, project), 2, row?.nextStory ?? 1)
  }
  /** Writes the file and returns the loaded content. */
  async function file(): Promise<WorkIndex> {
    const row = await store.project(db, project)
    if (row) await db.transact((tx) => store.flushed(tx, { ...row, flushed: row.seq }, 2000))
    return now()
  }
  async function save(theirs: WorkIndex, isFile = true): Promise<readonly Conflict[]> {
    const known = new Set((await now()).conflicts.map(({ id }) => id))
    const edit = { project, theirs, copy: 'copy', isFile, seen, at: (time += 1000) }
    const { seq } = await db.transact((tx) => importEdit(tx, { store, journal }, edit))
    seen = [{ index: theirs, seq, isFile }, ...seen].slice(0, 3)
    return (await now()).conflicts.filter(({ id }) => !known.has(id))
  }
  return { agent, remember, now, file, save }
}

export type Plan = Awaited<ReturnType<typeof openPlan>>

export const withStories = (
  index: WorkIndex,
  change: (list: readonly Story[]) => readonly Story[],
) => ({
  ...index,
  sprints: index.sprints.map((sprint) => ({ ...sprint, stories: change(sprint.stories ?? []) })),
})
export const without = (id: string) => (index: WorkIndex) => ({
  ...withStories(index, (list) => list.filter((one) => one.id !== id)),
  backlog: index.backlog.filter((one) => one.id !== id),
})
export const titled = (id: string, title: string) => (index: WorkIndex) =>
  withStories(index, (list) => list.map((one) => (one.id === id ? { ...one, title } : one)))
export const listStories = (index: WorkIndex) =>
  index.sprints.flatMap(({ stories }) => stories ?? [])
export const listIds = (index: WorkIndex) =>
  [...listStories(index), ...index.backlog].map(({ id }) => id)

/** Normalizes a work index: without order and revisions. */
export function normalize(index: WorkIndex) {
  const plain = (one: Readonly<Record<string, unknown>>) =>
    Object.entries(one).filter(([name]) => !marks.has(name))
  const byId = (list: readonly { readonly id: string }[]) =>
    Object.fromEntries(list.map((one) => [one.id, Object.fromEntries(plain(one))]))
  return {
    stories: byId(listStories(index)),
    backlog: byId(index.backlog),
    history: index.history.map(({ summary }) => summary).toSorted(),
    conflicts: index.conflicts.map(({ id }) => id),
  }
}

const marks = new Set(['rev', 'updated', 'by'])
