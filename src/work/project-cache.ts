import type { Reader } from '#base/db/port.ts'
import { unknownProjectError } from './journal.ts'
import type { Row } from './merge/flat.ts'
import type {
  BacklogItem,
  Change,
  Conflict,
  HistoryEntry,
  ItemKind,
  Sprint,
  Story,
  WorkIndex,
} from './model.ts'
import { parseStoryNumber } from './rules.ts'
import type { Stored, WorkStore } from './store.ts'

export type PositionedItem<T> = {
  readonly item: T
  readonly rev: number
  readonly sprint: string
  /** The lower-case search text, cached by the first search. */
  searchText?: string
}

/** The current state of a project in memory. */
export type ProjectSnapshot = ReturnType<typeof createSnapshot>

/**
 * Creates a cache of projects that is as new as the store: each read gets the number of the newest
 * change and applies missing changes. A call therefore sees every change acknowledged before it, in
 * any process.
 */
export function createProjectCache(db: Reader, store: WorkStore) {
  const snapshots = new Map<string, ProjectSnapshot>()
  const queues = new Map<string, Promise<unknown>>()

  async function current(project: string): Promise<ProjectSnapshot> {
    const row = await store.project(db, project)
    if (!row) {
      snapshots.delete(project)
      throw unknownProjectError(project)
    }
    const snapshot = snapshots.get(project)
    if (snapshot?.seq === row.seq) return snapshot
    // Concurrent readers queue, so the first one applies the changes for all.
    const queued = (queues.get(project) ?? Promise.resolve()).then(() => catchUp(project))
    queues.set(
      project,
      queued.catch(() => undefined),
    )
    return queued
  }

  async function catchUp(project: string): Promise<ProjectSnapshot> {
    const cached = snapshots.get(project)
    const row = await store.project(db, project)
    if (!row) throw unknownProjectError(project)
    if (cached && cached.seq <= row.seq) {
      const changes = await store.changesSince(db, project, cached.seq)
      const isComplete = changes.length === 0 || changes[0]?.seq === cached.seq + 1
      // Older changes were deleted from the journal, so reload everything.
      if (isComplete && (changes.at(-1)?.seq ?? cached.seq) >= row.seq) {
        for (const change of changes) cached.apply(change)
        return cached
      }
    }
    const snapshot = createSnapshot(project, row.seq, row, await store.items(db, project))
    snapshots.set(project, snapshot)
    return snapshot
  }

  return { current, forget: (project: string) => void snapshots.delete(project) }
}

export type ProjectCache = ReturnType<typeof createProjectCache>

function createSnapshot(
  project: string,
  start: number,
  { version, nextStory }: { version: number; nextStory: number },
  stored: readonly Stored[],
) {
  let seq = start
  const items = {
    sprint: createCollection<Sprint>(),
    story: createCollection<Story>(),
    backlog: createCollection<BacklogItem>(),
  }
  const history = new Map<string, HistoryEntry>()
  const conflicts = new Map<string, Conflict>()
  let nextNumber = nextStory
  let cachedIndex: { readonly seq: number; readonly index: WorkIndex } | undefined

  const put = (kind: ItemKind, id: string, item: Row, rev: number, sprint: string) =>
    items[kind].put(id, { item: item as never, rev, sprint })

  for (const { kind, id, sprint, item, rev } of stored) {
    if (kind === 'history') history.set(id, item as HistoryEntry)
    else if (kind === 'conflict') conflicts.set(id, item as Conflict)
    else put(kind, id, item, rev, sprint ?? '')
  }

  function apply(change: Change & { rev: number }): void {
    ;({ seq } = change)
    const { kind, id, op, fields, sprint = '', rev } = change
    if (kind === 'history' || kind === 'conflict') {
      const list: Map<string, unknown> = kind === 'history' ? history : conflicts
      const entry = fields['entry']?.to
      if (entry === undefined) list.delete(id)
      else list.set(id, entry)
      return
    }
    if (kind === 'story') nextNumber = Math.max(nextNumber, parseStoryNumber(id) + 1)
    const known = items[kind].get(id)?.item
    // A moved item becomes the last one of its new sprint.
    if (op === 'remove' || op === 'move') items[kind].remove(id)
    if (op !== 'remove') put(kind, id, applyFields(known, fields), rev, sprint)
  }

  function index(): WorkIndex {
    if (cachedIndex?.seq === seq) return cachedIndex.index
    const inSprint = Map.groupBy(items.story.all(), ({ sprint }) => sprint)
    const whole: WorkIndex = {
      version,
      ...(version > 1 && { next_story: nextNumber }),
      sprints: items.sprint.all().map(({ item }) => {
        const stories = inSprint.get(item.id)?.map((story) => story.item)
        return stories ? { ...item, stories } : item
      }),
      backlog: items.backlog.all().map(({ item }) => item),
      history: [...history.values()],
      conflicts: [...conflicts.values()],
    }
    cachedIndex = { seq, index: whole }
    return whole
  }

  return {
    project,
    get seq() {
      return seq
    },
    apply,
    sprint: items.sprint.get,
    story: items.story.get,
    backlogItem: items.backlog.get,
    sprints: items.sprint.all,
    stories: items.story.all,
    backlog: items.backlog.all,
    /** Oldest first. */
    history: (): readonly HistoryEntry[] => [...history.values()],
    conflicts: (): readonly Conflict[] => [...conflicts.values()],
    /** Builds the content of the file. */
    index,
  }
}

/** Creates an ordered collection of items. A returned list is never mutated. */
function createCollection<T>() {
  const rows = new Map<string, PositionedItem<T>>()
  let list: readonly PositionedItem<T>[] | undefined
  return {
    get: (id: string): PositionedItem<T> | undefined => rows.get(id),
    put(id: string, row: PositionedItem<T>): void {
      rows.set(id, row)
      list = undefined
    },
    remove(id: string): void {
      rows.delete(id)
      list = undefined
    },
    all: (): readonly PositionedItem<T>[] => (list ??= [...rows.values()]),
  }
}

function applyFields(known: Row | undefined, fields: Change['fields']): Row {
  const item: Record<string, unknown> = { ...known }
  for (const [field, { to }] of Object.entries(fields)) {
    if (to === undefined) delete item[field]
    else item[field] = to
  }
  return item
}
