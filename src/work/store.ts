import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Change, Lease } from './model.ts'
import type { Row } from './merge/flat.ts'
import { isOpen } from './rules.ts'
import { createTextStore } from './text-store.ts'

type ItemRow = {
  project: string
  kind: string
  id: string
  sprint: string | null
  place: number
  body: string
  rev: number
  lease_agent: string | null
  lease_until: number | null
}
type ChangeRow = {
  project: string
  seq: number
  kind: string
  id: string
  op: string
  fields: string
  sprint: string | null
  from_sprint: string | null
  rev: number
  at: number
  by: string
  call: string | null
  external: number
  quiet: number
}
type Tables = {
  work_project: {
    project: string
    seq: number
    flushed: number
    next_story: number
    version: number
    file_hash: string | null
  }
  work_item: ItemRow
  work_change: ChangeRow
}

export type StoredKind = Change['kind']

/** A stored item. `rev` counts its changes, including those of items without `rev` in the file. */
export type Stored = Readonly<Pick<ItemRow, 'id' | 'sprint' | 'place' | 'rev'>> & {
  readonly kind: StoredKind
  readonly item: Row
}

export type ProjectRow = ReturnType<typeof toProject>

export type WorkStore = ReturnType<typeof createWorkStore>

/** Creates the work store: the only SQL of this module. */
export function createWorkStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)
  const locked = <Q extends { forUpdate(): Q }>(q: Q) =>
    dialect === 'postgres' ? q.forUpdate() : q
  const projects = query(sql.selectFrom('work_project').selectAll().orderBy('project'))
  const project = statement((p: { project: string }) =>
    sql.selectFrom('work_project').selectAll().where('project', '=', p.project),
  )
  // A change locks the project row, so that change numbers follow the commit order.
  const lock = statement((p: { project: string }) =>
    locked(sql.selectFrom('work_project').selectAll().where('project', '=', p.project)),
  )
  const advance = statement((p: { project: string; seq: number; nextStory: number }) =>
    sql
      .updateTable('work_project')
      .set({ seq: p.seq, next_story: p.nextStory })
      .where('project', '=', p.project),
  )
  const flush = statement(
    (p: { project: string; flushed: number; hash: string; version: number }) =>
      sql
        .updateTable('work_project')
        .set({ flushed: p.flushed, file_hash: p.hash, version: p.version })
        .where('project', '=', p.project),
  )
  const buildDelete = (table: 'work_project' | 'work_item') =>
    statement((p: { project: string }) => sql.deleteFrom(table).where('project', '=', p.project))
  const forgetProject = buildDelete('work_project')
  const forgetItems = buildDelete('work_item')
  const forgetChanges = statement((p: { project: string; upTo: number }) =>
    sql.deleteFrom('work_change').where('project', '=', p.project).where('seq', '<=', p.upTo),
  )
  const selectItems = (name: string) =>
    sql.selectFrom('work_item').selectAll().where('project', '=', name)
  const item = statement((p: { project: string; kind: string; id: string }) =>
    selectItems(p.project).where('kind', '=', p.kind).where('id', '=', p.id),
  )
  const items = statement((p: { project: string }) => selectItems(p.project).orderBy('place'))
  const selectByKind = statement((p: { project: string; kind: string }) =>
    selectItems(p.project).where('kind', '=', p.kind).orderBy('place'),
  )
  const selectStories = statement((p: { project: string; sprint: string }) =>
    selectItems(p.project)
      .where('kind', '=', 'story')
      .where('sprint', '=', p.sprint)
      .orderBy('place'),
  )
  const put = statement((p: ItemRow) =>
    sql
      .insertInto('work_item')
      .values({
        project: p.project,
        kind: p.kind,
        id: p.id,
        sprint: p.sprint,
        place: p.place,
        body: p.body,
        rev: p.rev,
        lease_agent: p.lease_agent,
        lease_until: p.lease_until,
      })
      .onConflict((oc) =>
        oc.columns(['project', 'kind', 'id']).doUpdateSet((eb) => ({
          sprint: eb.ref('excluded.sprint'),
          place: eb.ref('excluded.place'),
          body: eb.ref('excluded.body'),
          rev: eb.ref('excluded.rev'),
          lease_agent: eb.ref('excluded.lease_agent'),
          lease_until: eb.ref('excluded.lease_until'),
        })),
      ),
  )
  const remove = statement((p: { project: string; kind: string; id: string }) =>
    sql
      .deleteFrom('work_item')
      .where('project', '=', p.project)
      .where('kind', '=', p.kind)
      .where('id', '=', p.id),
  )
  const changesAfter = (name: string, seq: number) =>
    sql.selectFrom('work_change').where('project', '=', name).where('seq', '>', seq)
  const since = statement((p: { project: string; seq: number }) =>
    changesAfter(p.project, p.seq).selectAll().orderBy('seq'),
  )
  const nextUnflushed = statement((p: { project: string; seq: number }) =>
    changesAfter(p.project, p.seq).select('seq').where('quiet', '=', 0).limit(1),
  )
  const expired = statement((p: { at: number; limit: number }) =>
    sql
      .selectFrom('work_item')
      .selectAll()
      .where('lease_until', '<=', p.at)
      .orderBy('lease_until')
      .limit(p.limit),
  )
  const nextExpiry = query(
    sql
      .selectFrom('work_item')
      .select((eb) => eb.fn.min<number | null>('lease_until').as('at'))
      .where('lease_until', 'is not', null),
  )

  const texts = createTextStore(dialect)

  return {
    texts,
    projects: async (reader: Reader) => (await reader.all(projects)).map(toProject),
    async project(reader: Reader, name: string): Promise<ProjectRow | undefined> {
      const row = await reader.first(project({ project: name }))
      return row && toProject(row)
    },
    async lock(tx: Tx, name: string): Promise<ProjectRow | undefined> {
      const row = await tx.first(lock({ project: name }))
      return row && toProject(row)
    },
    addProject: (tx: Tx, name: string, version: number, nextStory: number, seq: number) =>
      tx.insert('work_project', [
        { project: name, seq, flushed: seq, next_story: nextStory, version, file_hash: null },
      ]),
    /** Deletes a project from the store; its files stay. */
    async forget(tx: Tx, name: string): Promise<void> {
      await tx.run(forgetItems({ project: name }))
      await tx.run(forgetChanges({ project: name, upTo: Number.MAX_SAFE_INTEGER }))
      await texts.forget(tx, name)
      await tx.run(forgetProject({ project: name }))
    },
    advance: (tx: Tx, name: string, seq: number, nextStory: number) =>
      tx.run(advance({ project: name, seq, nextStory })),
    /**
     * Records that the file has all changes up to `flushed`, and deletes changes too old to be a
     * merge base.
     */
    async flushed(tx: Tx, of: ProjectRow, retainedCount: number): Promise<void> {
      const { project: name, flushed, fileHash, version } = of
      await tx.run(flush({ project: name, flushed, hash: fileHash ?? '', version }))
      if (flushed > retainedCount)
        await tx.run(forgetChanges({ project: name, upTo: flushed - retainedCount }))
    },
    async item(reader: Reader, name: string, kind: StoredKind, id: string) {
      const row = await reader.first(item({ project: name, kind, id }))
      return row && toStored(row)
    },
    items: async (reader: Reader, name: string) =>
      (await reader.all(items({ project: name }))).map(toStored),
    listByKind: async (reader: Reader, name: string, kind: StoredKind) =>
      (await reader.all(selectByKind({ project: name, kind }))).map(toStored),
    listStories: async (reader: Reader, name: string, sprint: string) =>
      (await reader.all(selectStories({ project: name, sprint }))).map(toStored),
    put: (tx: Tx, name: string, one: Stored) => tx.run(put(toRow(name, one))),
    /** Inserts many items, none of which exists yet. */
    insertMany: (tx: Tx, name: string, list: readonly Stored[]) =>
      tx.insert(
        'work_item',
        list.map((one) => toRow(name, one)),
      ),
    remove: (tx: Tx, name: string, kind: StoredKind, id: string) =>
      tx.run(remove({ project: name, kind, id })),
    addChanges: (tx: Tx, changes: readonly (Change & { rev: number })[]) =>
      tx.insert('work_change', changes.map(toChangeRow)),
    changesSince: async (reader: Reader, name: string, seq: number) =>
      (await reader.all(since({ project: name, seq }))).map(toChange),
    hasUnflushedChanges: async (reader: Reader, name: string, seq: number) =>
      (await reader.first(nextUnflushed({ project: name, seq }))) !== undefined,
    expiredLeases: async (reader: Reader, at: number, limit: number) =>
      (await reader.all(expired({ at, limit }))).map((row) => ({
        project: row.project,
        ...toStored(row),
      })),
    nextExpiry: async (reader: Reader) => (await reader.first(nextExpiry))?.at ?? Infinity,
  }
}

const toProject = ({
  next_story: nextStory,
  file_hash: fileHash,
  ...row
}: Readonly<Tables['work_project']>) => ({ ...row, nextStory, fileHash })

const toStored = (row: ItemRow): Stored => ({
  kind: row.kind as StoredKind,
  id: row.id,
  sprint: row.sprint,
  place: row.place,
  item: JSON.parse(row.body) as Row,
  rev: row.rev,
})

function toRow(project: string, { kind, id, sprint, place, item, rev }: Stored): ItemRow {
  const lease = item['lease'] as Lease | undefined
  return {
    project,
    kind,
    id,
    sprint,
    place,
    body: JSON.stringify(item),
    rev,
    lease_agent: lease?.agent ?? null,
    // The lease of a finished story expires immediately.
    lease_until: lease ? (isOpen(item) ? Date.parse(lease.until) : 0) : null,
  }
}

const toChange = (row: ChangeRow): Change & { rev: number } => ({
  seq: row.seq,
  project: row.project,
  kind: row.kind as StoredKind,
  id: row.id,
  op: row.op as Change['op'],
  fields: JSON.parse(row.fields) as Change['fields'],
  ...(row.sprint !== null && { sprint: row.sprint }),
  ...(row.from_sprint !== null && { fromSprint: row.from_sprint }),
  rev: row.rev,
  at: row.at,
  by: row.by,
  ...(row.call !== null && { call: row.call }),
  ...(row.external === 1 && { external: true as const }),
  ...(row.quiet === 1 && { quiet: true as const }),
})

const toChangeRow = (change: Change & { rev: number }): ChangeRow => ({
  project: change.project,
  seq: change.seq,
  kind: change.kind,
  id: change.id,
  op: change.op,
  fields: JSON.stringify(change.fields),
  sprint: change.sprint ?? null,
  from_sprint: change.fromSprint ?? null,
  rev: change.rev,
  at: change.at,
  by: change.by,
  call: change.call ?? null,
  external: change.external ? 1 : 0,
  quiet: change.quiet ? 1 : 0,
})
