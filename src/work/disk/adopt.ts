import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import { flatten } from '../merge/flat.ts'
import type { WorkIndex } from '../model.ts'
import type { Stored, WorkStore } from '../store.ts'
import { nextStoryOf } from '../rules.ts'

/** A project that the store does not know yet is taken over as its file says. */
export async function adopt(
  tx: Tx,
  store: WorkStore,
  project: string,
  index: WorkIndex,
): Promise<void> {
  await store.addProject(tx, project, index.version, nextStoryOf(1, index))
  let place = 0
  const items: Stored[] = [...flatten(index).items.values()].map(({ kind, id, sprint, item }) => ({
    kind,
    id,
    sprint: sprint ?? null,
    place: place++,
    item,
    rev: typeof item['rev'] === 'number' ? item['rev'] : 1,
  }))
  const entries = (kind: 'history' | 'conflict', list: readonly Stored['item'][]) =>
    list.map((item) => ({
      kind,
      id: kind === 'conflict' ? String(item['id']) : newId(),
      sprint: null,
      place: place++,
      item,
      rev: 1,
    }))
  const rows = [
    ...items,
    ...entries('history', index.history),
    ...entries('conflict', index.conflicts),
  ]
  for (let at = 0; at < rows.length; at += 500)
    await store.fill(tx, project, rows.slice(at, at + 500))
}
