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
  async function lockProject(tx: Tx, project: string): Promise<ProjectRow> {
    const row = await store.lock(tx, project)
    if (!row) throw unknownProjectError(project)
    return row
  }

  async function write(
    tx: Tx,
    row: ProjectRow,
    author: Author,
    steps: readonly JournalStep[],
    nextStory = row.nextStory,
  ): Promise<void> {
    const changes: (Change & { rev: number })[] = []
    let { seq } = row
    for (const { kind, id, before, after, quiet } of steps) {
      seq++
      const rev = (before?.rev ?? 0) + (quiet ? 0 : 1)
      const sprint = after?.sprint ?? before?.sprint ?? null
      changes.push({
        seq,
        project: row.project,
        kind,
        id,
        op: getOperation(before, after),
        fields: toChangedFields(kind, before?.item, after?.item),
        ...(sprint !== null && { sprint }),
        ...(before?.sprint !== undefined &&
          before.sprint !== null && { fromSprint: before.sprint }),
        rev,
        at: author.at,
        by: author.by,
        ...(author.call !== undefined && { call: author.call }),
        ...(author.external && { external: author.external }),
        ...(quiet && { quiet }),
      })
      if (!after) {
        await store.remove(tx, row.project, kind, id)
        continue
      }
      const isMoved = before !== undefined && before.sprint !== sprint
      const place = before && !isMoved ? before.place : seq
      await store.put(tx, row.project, { kind, id, sprint, place, item: after.item, rev })
    }
    await store.addChanges(tx, changes)
    await store.advance(tx, row.project, seq, nextStory)
  }

  return { lockProject, write }
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

function getOperation(before: Stored | undefined, after: JournalStep['after']): Change['op'] {
  if (!before) return 'add'
  if (!after) return 'remove'
  return (after.sprint ?? before.sprint) !== before.sprint ? 'move' : 'set'
}

/** History entries and conflicts count as one field. */
function toChangedFields(
  kind: StoredKind,
  from: Row | undefined,
  to: Row | undefined,
): Change['fields'] {
  if (kind !== 'history' && kind !== 'conflict') return changedFields(from ?? {}, to ?? {})
  return { entry: { ...(from && { from }), ...(to && { to }) } }
}
