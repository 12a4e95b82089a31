import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'

type TextRow = {
  project: string
  seq: number
  id: string
  /** The hash of what it takes the place of; none where there was nothing. */
  base: string | null
  sha256: string
  body: string
}

/** The long text of a backlog item that was acknowledged and is on its way to its file (W25). */
export type PendingText = Readonly<Omit<TextRow, 'project' | 'body'>> & { readonly text: string }

/** Texts until they are in their files; nearly always there are none. */
export function createTextStore(dialect: Dialect) {
  const sql = builder<{ work_text: TextRow }>(dialect)
  const waiting = statement((p: { project: string }) =>
    sql.selectFrom('work_text').selectAll().where('project', '=', p.project).orderBy('seq'),
  )
  const latest = statement((p: { project: string; id: string }) =>
    sql
      .selectFrom('work_text')
      .selectAll()
      .where('project', '=', p.project)
      .where('id', '=', p.id)
      .orderBy('seq', 'desc')
      .limit(1),
  )
  const projects = query(sql.selectFrom('work_text').select('project').distinct())
  const written = statement((p: { project: string; id: string; upTo: number }) =>
    sql
      .deleteFrom('work_text')
      .where('project', '=', p.project)
      .where('id', '=', p.id)
      .where('seq', '<=', p.upTo),
  )
  const forget = statement((p: { project: string }) =>
    sql.deleteFrom('work_text').where('project', '=', p.project),
  )

  return {
    add: (tx: Tx, project: string, { seq, id, base, sha256, text }: PendingText) =>
      // As JSON: PostgreSQL keeps no NUL.
      tx.insert('work_text', [{ project, seq, id, base, sha256, body: JSON.stringify(text) }]),
    /** In the order in which they were acknowledged. */
    waiting: async (reader: Reader, project: string) =>
      (await reader.all(waiting({ project }))).map(toWaiting),
    async latest(reader: Reader, project: string, id: string): Promise<PendingText | undefined> {
      const row = await reader.first(latest({ project, id }))
      return row && toWaiting(row)
    },
    projects: async (reader: Reader) => (await reader.all(projects)).map(({ project }) => project),
    /** The file of the item says all up to this one. */
    written: (tx: Tx, project: string, id: string, upTo: number) =>
      tx.run(written({ project, id, upTo })),
    forget: (tx: Tx, project: string) => tx.run(forget({ project })),
  }
}

function toWaiting(row: TextRow): PendingText {
  const { project: _, body, ...rest } = row
  return { ...rest, text: JSON.parse(body) as string }
}
