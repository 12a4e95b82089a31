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
import { timeOrNull } from './people-tools.ts'
import type { GrantsDeps } from './service.ts'

type Deps = Pick<GrantsDeps, 'db' | 'config' | 'guard' | 'where' | 'node' | 'now' | 'log'> & {
  readonly store: GrantStore
}

/** Seed 004's table, and whom it is for, which the seed does not tell apart. */
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

type SeedRow = {
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

/** A grants.db of seed 004: what is new in it is taken over at start, and it is kept as a copy (GR1). */
export function createGrantsDbMirror({ db, config, guard, where, store, node, now, log }: Deps) {
  const path = config.grants.database
  let copy: DatabaseSync | undefined
  let writes = 0

  function open(): DatabaseSync | undefined {
    if (copy || path === undefined) return copy
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      copy = new DatabaseSync(path, { timeout: 200 })
      copy.exec(schema)
      const columns = copy.prepare('PRAGMA table_info(grants)').all() as { name: string }[]
      if (!columns.some(({ name }) => name === 'agent'))
        copy.exec("ALTER TABLE grants ADD COLUMN agent TEXT DEFAULT '*'")
      return copy
    } catch (error) {
      complain(error)
      copy?.close()
      copy = undefined
      return undefined
    }
  }

  async function read(make: GrantWriter['make']): Promise<void> {
    let rows: SeedRow[] = []
    try {
      rows = (open()?.prepare('SELECT * FROM grants').all() ?? []) as SeedRow[]
    } catch (error) {
      complain(error)
    }
    if (rows.length === 0) return
    for (const row of rows) {
      // What this store knows, alive or not, it knows better than the copy does; of another node it is not ours.
      const known = await store.find(db, row.id)
      if (known?.node === node) continue
      const made = known ? 'It is of another machine.' : await grantOf(row)
      const why = typeof made === 'string' ? made : await against(made)
      if (typeof made === 'string' || why !== undefined)
        log.warn('a grant of grants.db is not taken over', { id: row.id, path: row.path, why })
      else await db.transact((tx) => make(tx, made))
    }
  }

  /** What people have said here about the same counts. */
  async function against({ path: granted, agent }: NewGrant): Promise<string | undefined> {
    const isSaid = (await store.live(db, node)).some(
      (grant) =>
        grant.agent === agent &&
        (grant.permission === 'deny' ? covers(grant, granted) : grant.path === granted),
    )
    return isSaid ? 'It is granted or denied here already.' : undefined
  }

  /** Or why there is none. */
  async function grantOf(row: SeedRow): Promise<NewGrant | string> {
    const expiresAt = timeOf(row.expires_at)
    // An end that cannot be read must not become no end.
    const isOver = row.expires_at !== null && !((expiresAt ?? 0) > now())
    const permission = permissions.find((one) => one === row.permission)
    // Sessions of another program are over. An id becomes the name of a root, and must not be that of another.
    if (!permission) return 'Its permission is not known.'
    if (row.scope !== 'permanent' || isOver) return 'Its time is over.'
    if (!isGrantId(row.id)) return 'Its id is none of a grant.'
    let pin: Pin
    try {
      pin = await resolveGrantTarget(String(row.path), permission, { guard, where })
    } catch (error) {
      return errorMessage(error)
    }
    return {
      ...pin,
      id: row.id,
      agent: row.agent ?? '*',
      permission,
      scope: 'permanent',
      grantedAt: timeOf(row.granted_at) ?? now(),
      grantedBy: origins.find((one) => one === row.granted_by) ?? 'user_explicit',
      expiresAt,
      lastAccessed: timeOf(row.last_accessed),
      accessCount: row.access_count ?? 0,
      by,
      actor: systemActor,
    }
  }

  /** Rows of others that were not taken over stay as they are. */
  async function write(live: readonly Grant[]): Promise<void> {
    const file = open()
    if (!file) return
    const turn = ++writes
    const known = await store.ids(db, node)
    // What was said later is written already, or will be.
    if (turn !== writes) return
    try {
      file.exec('BEGIN IMMEDIATE')
      const remove = file.prepare('DELETE FROM grants WHERE id = ?')
      for (const id of known) remove.run(id)
      const add = file.prepare(
        'INSERT OR REPLACE INTO grants (id, path, permission, scope, granted_at, granted_by, expires_at, last_accessed, access_count, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      )
      for (const grant of live)
        if (grant.permission !== 'deny')
          add.run(
            grant.id,
            grant.path,
            grant.permission,
            grant.scope,
            formatRfc3339(grant.grantedAt),
            grant.grantedBy,
            timeOrNull(grant.expiresAt),
            timeOrNull(grant.lastAccessed),
            grant.accessCount,
            grant.agent,
          )
      file.exec('COMMIT')
    } catch (error) {
      if (file.isTransaction) file.exec('ROLLBACK')
      complain(error)
    }
  }

  function complain(error: unknown): void {
    log.warn('the copy of the grants in grants.db is out of date', {
      path,
      error: errorMessage(error),
    })
  }

  return { read, write, close: () => copy?.close() }
}

const permissions: readonly Permission[] = ['read', 'read-write', 'write']
const origins: readonly GrantedBy[] = ['user_explicit', 'user_implicit', 'system_setup']

const isGrantId = (id: string) => /^grant_[\w-]{1,100}$/.test(id)

/** RFC 3339, SQLite's own form (in UTC, without saying so), or seconds since the epoch. */
function timeOf(given: string | number | null): number | null {
  if (typeof given === 'number') return given * 1000
  if (given === null) return null
  const isBare = /^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?$/.test(given)
  const at = Date.parse(isBare ? `${given.replace(' ', 'T')}Z` : given)
  return Number.isNaN(at) ? null : at
}
