import type { Conflict, HistoryEntry, ItemKind, WorkIndex } from '../model.ts'

export type Row = Readonly<Record<string, unknown>>

/** An item without its children; a story also has its sprint. */
export type FlatItem = {
  readonly kind: ItemKind
  readonly id: string
  readonly sprint?: string
  readonly item: Row
}

/** A work index as flat lists, for comparing items one by one. */
export type Flat = {
  readonly items: ReadonlyMap<string, FlatItem>
  readonly history: readonly HistoryEntry[]
  readonly conflicts: readonly Conflict[]
}

export const itemKey = (kind: ItemKind, id: string): string => `${kind}:${id}`

/** Cache: a merge flattens the same index several times. */
const flattened = new WeakMap<WorkIndex, Flat>()

export function flatten(index: WorkIndex): Flat {
  const known = flattened.get(index)
  if (known) return known
  const items = new Map<string, FlatItem>()
  const add = (one: FlatItem) => items.set(itemKey(one.kind, one.id), one)
  for (const { stories, ...sprint } of index.sprints) {
    add({ kind: 'sprint', id: sprint.id, item: sprint })
    for (const story of stories ?? [])
      add({ kind: 'story', id: story.id, sprint: sprint.id, item: story })
  }
  for (const item of index.backlog) add({ kind: 'backlog', id: item.id, item })
  const flat = { items, history: index.history, conflicts: index.conflicts }
  flattened.set(index, flat)
  return flat
}

/** Rebuilds the index in the order of the items. */
export function unflatten(flat: Flat, { version, next_story }: Meta): WorkIndex {
  const sprints: FlatItem[] = []
  const backlog: Row[] = []
  const stories = new Map<string, Row[]>()
  for (const one of flat.items.values()) {
    if (one.kind === 'sprint') sprints.push(one)
    else if (one.kind === 'backlog') backlog.push(one.item)
    else {
      const of = stories.get(one.sprint ?? '')
      if (of) of.push(one.item)
      else stories.set(one.sprint ?? '', [one.item])
    }
  }
  return {
    version,
    ...(next_story !== undefined && { next_story }),
    sprints: sprints.map(({ id, item }) => {
      const own = stories.get(id)
      return own ? { ...item, stories: own } : item
    }),
    backlog,
    history: flat.history,
    conflicts: flat.conflicts,
  } as unknown as WorkIndex
}

export type Meta = Pick<WorkIndex, 'version' | 'next_story'>
