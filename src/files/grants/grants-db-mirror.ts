import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { formatRfc3339 } from '#base/clock.ts'
import { systemActor } from '#base/entry.ts'
import { errorMessage } from '#base/errors.ts'
import type { GrantStore } from '../grant-store.ts'
import type { Grant, GrantedBy, Permission } from '../model.ts'
import type { Pin } from '../rules/choices.ts'
import { covers } from '../rules/grants.ts'
import type { GrantWriter, NewGrant } from './grant-writer.ts'
import { resolveGrantTarget } from './pin.ts'
import { formatTimeOrNull } from './people-tools.ts'
import type { GrantsDeps } from './service.ts'

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'guard' | 'pathContext' | 'node' | 'now' | 'log'> & {
  readonly store: GrantStore
}

/** The table of File Ops. The `agent` column is added, because File Ops does not distinguish agents. */
const schema = `
  CREATE TABLE IF NOT EXISTS grants (
    id TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    permission TEXT NOT NULL,
    scope TEXT NOT NULL,
    granted_at TIMESTAMP NOT NULL,
    granted_by TEXT NOT NULL,
    expires_at TIMESTAMP,
    last_accessed TIMESTAMP,
    access_count INTEGER DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS idx_grants_path ON grants(path);
`

type GrantsDbRow = {
  readonly id: string
  readonly path: string
  readonly permission: string
  readonly scope: string
  readonly granted_at: string | number
  readonly granted_by: string
  readonly expires_at: string | number | null
  readonly last_accessed: string | number | null
  readonly access_count: number | null
  readonly agent?: string | null
}

const by = 'import'

/** Imports new rows of a File Ops `grants.db` at start and then keeps the file as a copy of the grants (GR1). */
export function createGrantsDbMirror({
  db,
  config,
  guard,
  pathContext,
  store,
  node,
  now,
  log,
}: Deps) {
  const path = config.grants.database
  let database: DatabaseSync | undefined
  let exportCount = 0

  function open(): DatabaseSync | undefined {
    if (database || path === undefined) return database
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      database = new DatabaseSync(path, { timeout: 200 })
      database.exec(schema)
      const columns = database.prepare('PRAGMA table_info(grants)').all() as { name: string }[]
      if (!columns.some(({ name }) => name === 'agent'))
        database.exec("ALTER TABLE grants ADD COLUMN agent TEXT DEFAULT '*'")
      return database
    } catch (error) {
      logError(error)
      database?.close()
      database = undefined
      return undefined
    }
  }

  async function importGrants(make: GrantWriter['make']): Promise<void> {
    let rows: GrantsDbRow[] = []
    try {
      rows = (open()?.prepare('SELECT * FROM grants').all() ?? []) as GrantsDbRow[]
    } catch (error) {
      logError(error)
    }
    if (rows.length === 0) return
    for (const row of rows) {
      // The store is newer than the file. A grant id of another node must not be reused.
      const existing = await store.find(db, row.id)
      if (existing?.node === node) continue
      const made = existing ? 'belongs to another node' : await toNewGrant(row)
      const reason = typeof made === 'string' ? made : await findConflict(made)
      if (typeof made === 'string' || reason !== undefined)
        log.warn('grants.db row not imported', { id: row.id, path: row.path, reason })
      else await db.transact((tx) => make(tx, made))
    }
  }

  /** Existing grants and denials take precedence. */
  async function findConflict({ path: granted, agent }: NewGrant): Promise<string | undefined> {
    const isKnown = (await store.listUnrevoked(db, node)).some(
      (grant) =>
        grant.agent === agent &&
        (grant.permission === 'deny' ? covers(grant, granted) : grant.path === granted),
    )
    return isKnown ? 'already granted or denied' : undefined
  }

  /** Returns the reason if the row cannot be imported. */
  async function toNewGrant(row: GrantsDbRow): Promise<NewGrant | string> {
    const expiresAt = parseTimestamp(row.expires_at)
    // An unreadable expiry must not become "never expires".
    const isExpired = row.expires_at !== null && !((expiresAt ?? 0) > now())
    const permission = permissions.find((one) => one === row.permission)
    if (!permission) return 'unknown permission'
    // The sessions of File Ops have ended.
    if (row.scope !== 'permanent' || isExpired) return 'expired'
    // The id becomes the key of a root and must not equal the key of another root.
    if (!isValidGrantId(row.id)) return 'invalid grant id'
    let pin: Pin
    try {
      pin = await resolveGrantTarget(String(row.path), permission, { guard, pathContext })
    } catch (error) {
      return errorMessage(error)
    }
    return {
      ...pin,
      id: row.id,
      agent: row.agent ?? '*',
      permission,
      scope: 'permanent',
      grantedAt: parseTimestamp(row.granted_at) ?? now(),
      grantedBy: origins.find((one) => one === row.granted_by) ?? 'user_explicit',
      expiresAt,
      lastAccessed: parseTimestamp(row.last_accessed),
      accessCount: row.access_count ?? 0,
      by,
      actor: systemActor,
    }
  }

  /** Rows that were not imported stay unchanged. */
  async function exportGrants(active: readonly Grant[]): Promise<void> {
    const file = open()
    if (!file) return
    const attempt = ++exportCount
    const existing = await store.listIds(db, node)
    // A later export supersedes this one.
    if (attempt !== exportCount) return
    try {
      file.exec('BEGIN IMMEDIATE')
      const remove = file.prepare('DELETE FROM grants WHERE id = ?')
      for (const id of existing) remove.run(id)
      const add = file.prepare(
        'INSERT OR REPLACE INTO grants (id, path, permission, scope, granted_at, granted_by, expires_at, last_accessed, access_count, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      )
      for (const grant of active)
        if (grant.permission !== 'deny')
          add.run(
            grant.id,
            grant.path,
            grant.permission,
            grant.scope,
            formatRfc3339(grant.grantedAt),
            grant.grantedBy,
            formatTimeOrNull(grant.expiresAt),
            formatTimeOrNull(grant.lastAccessed),
            grant.accessCount,
            grant.agent,
          )
      file.exec('COMMIT')
    } catch (error) {
      if (file.isTransaction) file.exec('ROLLBACK')
      logError(error)
    }
  }

  function logError(error: unknown): void {
    log.warn('grants.db not updated', { path, error: errorMessage(error) })
  }

  return { importGrants, exportGrants, close: () => database?.close() }
}

const permissions: readonly Permission[] = ['read', 'read-write', 'write']
const origins: readonly GrantedBy[] = ['user_explicit', 'user_implicit', 'system_setup']

const isValidGrantId = (id: string) => /^grant_[\w-]{1,100}$/.test(id)

/** Parses RFC 3339, SQLite's format (UTC without a zone), or seconds since the epoch. */
function parseTimestamp(value: string | number | null): number | null {
  if (typeof value === 'number') return value * 1000
  if (value === null) return null
  const isSqliteFormat = /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?$/.test(value)
  const at = Date.parse(isSqliteFormat ? `${value.replace(' ', 'T')}Z` : value)
  return Number.isNaN(at) ? null : at
}
