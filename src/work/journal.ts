import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Row } from './merge/flat.ts'
import { changedFields } from './merge/merge.ts'
import type { Change } from './model.ts'
import type { ProjectRow, Stored, StoredKind, WorkStore } from './store.ts'

/** One change of an item; `after` is undefined if the item is removed. */
export type JournalStep = {
  readonly kind: StoredKind
  readonly id: string
  readonly before: Stored | undefined
  readonly after: { readonly item: Row; readonly sprint?: string | null } | undefined
  /** A heartbeat, which does not rewrite the file (W7). */
  readonly quiet?: true
}

export type Author = {
  readonly by: string
  readonly at: number
  readonly call?: string
  readonly external?: true
}

/**
 * Creates the journal: it writes items and their changes, which the file and all readers follow
 * (W7). The caller appends the ledger entry.
 */
export function createJournal(store: WorkStore) {
  async function hold(tx: Tx, project: string): Promise<ProjectRow> {
    const held = await store.lock(tx, project)
    if (!held) throw unknownProjectError(project)
    return held
  }

  async function write(
    tx: Tx,
    held: ProjectRow,
    who: Author,
    steps: readonly JournalStep[],
    nextStory = held.nextStory,
  ): Promise<void> {
    const changes: (Change & { rev: number })[] = []
    let { seq } = held
    for (const { kind, id, before, after, quiet } of steps) {
      seq++
      const rev = (before?.rev ?? 0) + (quiet ? 0 : 1)
      const sprint = after?.sprint ?? before?.sprint ?? null
      changes.push({
        seq,
        project: held.project,
        kind,
        id,
        op: opOf(before, after),
        fields: fieldsOf(kind, before?.item, after?.item),
        ...(sprint !== null && { sprint }),
        ...(before?.sprint !== undefined &&
          before.sprint !== null && { fromSprint: before.sprint }),
        rev,
        at: who.at,
        by: who.by,
        ...(who.call !== undefined && { call: who.call }),
        ...(who.external && { external: who.external }),
        ...(quiet && { quiet }),
      })
      if (!after) {
        await store.remove(tx, held.project, kind, id)
        continue
      }
      const isMoved = before !== undefined && before.sprint !== sprint
      const place = before && !isMoved ? before.place : seq
      await store.put(tx, held.project, { kind, id, sprint, place, item: after.item, rev })
    }
    await store.addChanges(tx, changes)
    await store.advance(tx, held.project, seq, nextStory)
  }

  return { hold, write }
}

export type Journal = ReturnType<typeof createJournal>

/** Dependencies shared by most services of this module. */
export type WorkParts = {
  readonly db: Db
  readonly store: WorkStore
  readonly journal: Journal
  readonly now: Clock
  readonly log: Log
}

export const unknownProjectError = (project: string): CoworkError =>
  new CoworkError('project_unknown', `Unknown project: ${JSON.stringify(project)}.`, {
    hint: 'List projects with worksync_projects, or add one with worksync_register_project.',
  })

function opOf(before: Stored | undefined, after: JournalStep['after']): Change['op'] {
  if (!before) return 'add'
  if (!after) return 'remove'
  return (after.sprint ?? before.sprint) !== before.sprint ? 'move' : 'set'
}

/** History entries and conflicts count as one field. */
function fieldsOf(kind: StoredKind, from: Row | undefined, to: Row | undefined): Change['fields'] {
  if (kind !== 'history' && kind !== 'conflict') return changedFields(from ?? {}, to ?? {})
  return { entry: { ...(from && { from }), ...(to && { to }) } }
}
