import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'

type TextRow = {
  project: string
  seq: number
  id: string
  /** The hash of the replaced text; null if there was none. */
  base: string | null
  sha256: string
  body: string
}

/** An acknowledged backlog text that is not yet in its file (W25). */
export type PendingText = Readonly<Omit<TextRow, 'project' | 'body'>> & { readonly text: string }

/** Stores texts until they are in their files; the table is nearly always empty. */
export function createTextStore(dialect: Dialect) {
  const sql = builder<{ work_text: TextRow }>(dialect)
  const pendingTexts = statement((p: { project: string }) =>
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
  const deleteAll = statement((p: { project: string }) =>
    sql.deleteFrom('work_text').where('project', '=', p.project),
  )

  return {
    add: (tx: Tx, project: string, { seq, id, base, sha256, text }: PendingText) =>
      // Stored as JSON because PostgreSQL text cannot contain NUL.
      tx.insert('work_text', [{ project, seq, id, base, sha256, body: JSON.stringify(text) }]),
    /** Oldest first. */
    pending: async (reader: Reader, project: string) =>
      (await reader.all(pendingTexts({ project }))).map(toPendingText),
    async latest(reader: Reader, project: string, id: string): Promise<PendingText | undefined> {
      const row = await reader.first(latest({ project, id }))
      return row && toPendingText(row)
    },
    projects: async (reader: Reader) => (await reader.all(projects)).map(({ project }) => project),
    /** Deletes the texts up to this one: the file has them. */
    written: (tx: Tx, project: string, id: string, upTo: number) =>
      tx.run(written({ project, id, upTo })),
    forget: (tx: Tx, project: string) => tx.run(deleteAll({ project })),
  }
}

function toPendingText(row: TextRow): PendingText {
  const { project: _, body, ...rest } = row
  return { ...rest, text: JSON.parse(body) as string }
}
