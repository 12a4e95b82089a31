import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import { noSealer } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { governanceSchema } from '../../test/governance.ts'

/** A store before that migration, with these rows. */
async function before(
  name: string,
  rows: readonly [table: string, row: Record<string, unknown>][],
) {
  const db = openSqlite(join(mkdtempSync(join(tmpdir(), 'cowork-before-')), 'cowork.db'), noSealer)
  onTestFinished(() => db.close())
  await migrate(
    db,
    governanceSchema.filter((one) => !one.name.startsWith('governance') || one.name < name),
    0,
  )
  await db.transact(async (tx) => {
    for (const [table, row] of rows) await tx.insert(table, [row])
  })
  await migrate(db, governanceSchema, 0)
  return (sql: string) => db.all({ sql, parameters: [] })
}

/** Builds a row from column names and values. */
const row = (columns: string, ...values: unknown[]): Record<string, unknown> =>
  Object.fromEntries(columns.split(' ').map((name, index) => [name, values[index] ?? '']))

const approval = (id: string, kind: string, requester: string, risk: string, by: string) => ({
  ...row('action target summary digest content similar policy_version mode'),
  ...row('id kind requester risk decided_by', id, kind, requester, risk, by),
  ...row('status domain needed created_at decided_at', 'approved', 'crm', 1, 1, 2),
})
const trust = (agent: string) => ({
  ...row('agent domain score approvals overrides streak', agent, 'crm', 0.9, 30, 0, 0),
  ...row('promoted vouched active_at low_good low_bad', 1, 1, 1, 0, 0),
  ...row('normal_good normal_bad high_good high_bad', 30, 2, 30, 0),
})
const permission = (id: string, approved: string) =>
  row('id agent tool lasts approval by at', id, 'sales', 't', 'always', approved, 'anna', 1)

test('Y8 SV8 a permission without a stored risk gets the risk of its approval', async () => {
  const read = await before('governance-004', [
    ['approval', approval('a', 'call', 'sales', 'normal', 'anna')],
    ['permission', permission('p', 'a')],
    ['permission', permission('q', 'gone')],
  ])
  expect(await read('SELECT id, risk FROM permission ORDER BY id')).toEqual([
    { id: 'p', risk: 'normal' },
    { id: 'q', risk: null },
  ])
})

test('T11 SV8 earlier approvals by an unverified caller are no longer evidence', async () => {
  const read = await before('governance-004', [
    ['approval', approval('a', 'proposal', 'sales', 'high', 'unverified')],
    ['approval', approval('b', 'proposal', 'support', 'high', 'anna')],
    ['trust', trust('sales')],
    ['trust', trust('support')],
  ])
  const columns = 'agent score vouched claimed normal_good normal_bad high_good'
  expect(await read(`SELECT ${columns.replaceAll(' ', ', ')} FROM trust ORDER BY agent`)).toEqual([
    row(columns, 'sales', 0.9, 0, 1, 0, 2, 0),
    { ...row(columns, 'support', 0.9, 1, null, 30, 2, 30), claimed: null },
  ])
})
