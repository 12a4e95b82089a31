import type { Dialect, Query } from '#base/db/port.ts'

/**
 * Builds the views for people with `sqlite3` or `psql` (SV9). The CTE makes a view read-only in PostgreSQL; it is inlined,
 * so that filters still use the indexes.
 */
export function ledgerViews(dialect: Dialect): Query[] {
  const { text, time } = dialectSql[dialect]
  const timeline = [
    'seq',
    `${time} AS time`,
    'type',
    `${text('actor', 'kind')} AS actor_kind`,
    'actor',
    `${text('actor', 'session')} AS session_id`,
    'domain',
    'subject',
    'tool',
    `${text('outcome')} AS outcome`,
    'call',
    'proposal',
    `${text('ids', 'approval')} AS approval`,
    'body',
    'hash',
  ]
  return [view('timeline', timeline), auditLog(dialect, ['call.done'])]
}

/** Builds a view with the fields of get_audit_log (L10); `done` are the types of completed calls. */
function auditLog(dialect: Dialect, done: readonly string[]): Query {
  const { text, integer, time } = dialectSql[dialect]
  const types = (names: readonly string[]) => `type IN ('${names.join("', '")}')`
  const columns = [
    'seq',
    `${time} AS timestamp`,
    'COALESCE(tool, type) AS operation',
    'subject AS path',
    'domain',
    `${text('ids', 'grant')} AS grant_id`,
    'actor AS agent_id',
    `${text('actor', 'session')} AS session_id`,
    `CASE WHEN ${types(done)} THEN 1 ELSE 0 END AS success`,
    `${integer('data', 'size_bytes')} AS size_bytes`,
  ]
  const ends = types([...done, 'call.failed', 'call.refused'])
  return view('audit_log', columns, `WHERE tool IS NOT NULL AND ${ends}`)
}

/** Recreates the view, including calls that are recorded by a proposal entry (0014). */
export const recreateAuditLogView = (dialect: Dialect): Query[] => [
  { sql: 'DROP VIEW audit_log', parameters: [] },
  auditLog(dialect, ['call.done', 'proposal.created']),
]

/** Builds the view of logged actions: the steps after the approval of a proposal. */
export function actionsView(dialect: Dialect): Query {
  const { text, time } = dialectSql[dialect]
  const actions = [
    `${text('data', 'action_id')} AS id`,
    'seq',
    `${time} AS time`,
    'actor AS agent_id',
    'domain',
    `${text('data', 'action')} AS action`,
    'subject AS target',
    `${text('data', 'actor')} AS actor`,
    `${text('data', 'phase')} AS phase`,
    'proposal AS proposal_id',
  ]
  return view('actions', actions, "WHERE type = 'action.logged'")
}

const view = (name: string, columns: readonly string[], where = ''): Query => ({
  sql: `CREATE VIEW ${name} AS WITH entry AS (SELECT ${columns.join(', ')} FROM ledger_entry ${where}) SELECT * FROM entry`,
  parameters: [],
})

const sqlitePath = (path: readonly string[]) => `json_extract(body, '$.${path.join('.')}')`
// PostgreSQL cannot process NUL in a JSON text, even in a field that is not selected.
const postgresPath = (path: readonly string[]) =>
  String.raw`replace(body, '\u0000', '\u2400')::json #>> '{${path.join(',')}}'`

const dialectSql = {
  sqlite: {
    text: (...path: string[]) => sqlitePath(path),
    integer: (...path: string[]) => sqlitePath(path),
    time: `strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')`,
  },
  postgres: {
    text: (...path: string[]) => `(${postgresPath(path)})`,
    integer: (...path: string[]) =>
      `CAST(substring(${postgresPath(path)} FROM '^[0-9]{1,18}$') AS BIGINT)`,
    time: `to_char(to_timestamp(at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  },
}
