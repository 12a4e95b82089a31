import type { Tx } from '#base/db/port.ts'
import { newId } from '#base/ids.ts'
import { flatten } from '../merge/flat.ts'
import type { Change, WorkIndex } from '../model.ts'
import type { Stored, WorkStore } from '../store.ts'
import { nextStoryOf } from '../rules.ts'

/** A project that the store does not know yet is taken over as its file says. */
export async function adopt(
  tx: Tx,
  store: WorkStore,
  project: string,
  index: WorkIndex,
): Promise<void> {
  const fence = highestFence(index)
  await store.addProject(tx, project, index.version, nextStoryOf(1, index), fence?.seq ?? 0)
  if (fence) await store.addChanges(tx, [{ ...fence, project, rev: 1 }])
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

/** By hand anything may stand there; changes have to be counted on from it. */
const mostFence = 2 ** 40

/**
 * The last claim that the file knows. Fences are numbers of changes, so the journal goes on from there: one
 * that a store before this gave is not given again (W20).
 */
function highestFence({ sprints }: WorkIndex): Omit<Change, 'project'> | undefined {
  let last: Omit<Change, 'project'> | undefined
  for (const { id: sprint, stories } of sprints)
    for (const { id, lease } of stories ?? []) {
      if (!lease || lease.fence <= (last?.seq ?? 0) || lease.fence > mostFence) continue
      const at = Date.parse(lease.since) || 0
      last = {
        seq: lease.fence,
        kind: 'story',
        id,
        op: 'set',
        fields: {},
        sprint,
        fromSprint: sprint,
        at,
        by: lease.agent,
        quiet: true,
      }
    }
  return last
}
