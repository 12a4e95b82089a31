// `verify` reports each row that was changed outside of cowork (L20).
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { migrate } from '#base/db/migrate.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import { silentLog } from '#base/log.ts'
import { createRedactor, createSealer, loadOrCreateKey, openLedger, writeBaselines } from '#ledger'
import { migrations, recordedTables } from '../src/app.ts'
import { pinPath } from '../src/files/grants/pin.ts'
import { actingTool } from './acting.ts'
import {
  anna,
  approve,
  check,
  decide,
  earn,
  override,
  propose,
  proposed,
  sales,
  trusted,
} from './acts.ts'
import { governed, movableClock, openGoverned } from './governed.ts'
import type { Governed, Store } from './governed.ts'
import { agentCaller } from './governance.ts'
import { createWorld } from './granted.ts'

const day = 24 * 60 * 60 * 1000
const ok = { ok: true, problems: [] }

/** Writes to the store directly, without cowork. */
const forge = (db: Db, ...statements: readonly string[]) =>
  db.transact(async (tx) => {
    for (const sql of statements) await tx.run({ sql, parameters: [] })
  })

const listProblems = async ({ verify }: Pick<Governed, 'verify'>) =>
  (await verify()).problems.map(({ why }) => why)

const forgive = (to: Governed) =>
  to.call('cowork_forgive', { agent_id: 'sales', domain: 'crm', reason: 'It was mine.' }, anna)

/** Tests for every engine. */
export function replayContract(newStore: () => Promise<Store>): void {
  async function start(settings: object = {}, store?: Store) {
    const { tool } = actingTool('crm', 'write')
    const given = { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0, ...settings }
    const system = await governed(given, { tools: [tool] }, store ?? (await newStore()))
    /** Grants a standing permission for an intercepted call. */
    async function allow(allowance: object, path = '/a') {
      const waits = await system.call('crm_write', { path }, sales)
      const id = String(waits['approval_id'])
      await decide(system, [id], { allow: allowance })
      // cowork runs the call; later calls use the permission.
      await check(system, id, { wait_seconds: 25 })
    }
    return { ...system, allow }
  }

  test('RS6 L20 a forged trust score is reported with both values', async () => {
    const system = await start()
    await earn(system, 6)
    expect(await system.verify()).toMatchObject(ok)
    await forge(system.db, `UPDATE trust SET score = 0.95 WHERE agent = 'sales'`)
    const { ok: isOk, problems } = await system.verify()
    expect(isOk).toBe(false)
    expect(problems).toMatchObject([
      {
        why: 'trust of agent "sales" in domain "crm": score is 0.95 in the store and 0.42 in the ledger',
      },
    ])
  })

  test.each([
    ['normal_credit = 25', 'normal_credit'],
    ['high_strikes = 0 - 1', 'high_strikes'],
    ['vouched = 1, promoted = 1', 'promoted'],
    ['active_at = active_at + 864000000', 'active_at'],
    ['active_at = active_at - 1', 'active_at'],
  ])('RS6 L20 trust set to %s is reported', async (change, column) => {
    const system = await start()
    await earn(system, 2)
    await propose(system)
    expect(await system.verify()).toMatchObject(ok)
    // Back to before the last recorded row; a proposal alone never does this.
    const back = change.replace('- 1', '- 100000')
    await forge(system.db, `UPDATE trust SET ${back}`)
    expect(await listProblems(system)).toEqual([expect.stringContaining(`: ${column} is `)])
  })

  test('RS6 L20 an inserted and a deleted trust row are reported', async () => {
    const system = await start()
    await earn(system, 1)
    await earn(system, 1, 'erp')
    const copy = `SELECT 'sales' AS agent, 'bank' AS domain, 1, approvals, overrides, streak, promoted, vouched, active_at, low_good, low_bad, normal_good, normal_bad, high_good, high_bad, claimed FROM trust WHERE domain = 'crm'`
    const columns =
      'agent, domain, score, approvals, overrides, streak, promoted, vouched, active_at, low_good, low_bad, normal_good, normal_bad, high_good, high_bad, claimed'
    await forge(
      system.db,
      `INSERT INTO trust (${columns}) ${copy}`,
      `DELETE FROM trust WHERE domain = 'erp'`,
    )
    expect((await listProblems(system)).toSorted()).toEqual([
      'trust of agent "sales" in domain "bank": no entry records this row',
      'trust of agent "sales" in domain "erp": the row is missing in the store',
    ])
  })

  test('RS6 L20 an agent with a redacted name does not hide an inserted row', async () => {
    const system = await start()
    const [name, domain] = [`AKIA${'ABCD'.repeat(4)}`, `AKIA${'EFGH'.repeat(4)}`]
    await propose(system, { domain }, agentCaller(name))
    expect(await system.verify()).toMatchObject(ok)
    await forge(system.db, ...olderRows.slice(0, 1))
    expect(await listProblems(system)).toEqual([
      'trust of agent "sales" in domain "crm": no entry records this row',
    ])
  })

  test('RS6 L20 a forged row stays reported after cowork rewrites it, and can be repaired before', async () => {
    const system = await start()
    await earn(system, 1)
    await forge(system.db, 'UPDATE trust SET score = 0.95')
    // A value set by a person replaces any previous value.
    await trusted(system, 0.4)
    expect(await system.verify()).toMatchObject(ok)
    await forge(system.db, 'UPDATE trust SET score = 0.95')
    await earn(system, 1)
    const changed =
      'trust of agent "sales" in domain "crm": changed outside cowork before this entry'
    expect(await listProblems(system)).toEqual([changed])
    await forge(system.db, 'DELETE FROM trust')
    await proposed(system)
    expect(await listProblems(system)).toEqual([changed, changed])
  })

  test.each([
    ['uses_left = 1000', 'uses_left is 1000 in the store and 2 in the ledger'],
    [`arguments = '{"path":{"glob":"*"}}'`, 'arguments is '],
    [
      'expires_at = 4102444800000',
      'expires_at is 4102444800000 in the store and null in the ledger',
    ],
    [`agent = 'support'`, 'agent is "support" in the store and "sales" in the ledger'],
    [`risk = 'high'`, 'risk is "high" in the store and "normal" in the ledger'],
  ])('RS6 L20 a permission forged by %s is reported', async (change, named) => {
    const system = await start()
    await system.allow({ for: 'uses', uses: 3 })
    await system.call('crm_write', { path: '/a' }, sales)
    expect(await system.verify()).toMatchObject(ok)
    await forge(system.db, `UPDATE permission SET ${change}`)
    expect(await listProblems(system)).toEqual([
      expect.stringMatching(
        /^permission [\w-]+ of agent "\w+": .* in the store and .* in the ledger/,
      ),
    ])
    expect(await listProblems(system)).toEqual([expect.stringContaining(named)])
  })

  test('RS6 L20 a reactivated permission and a use of a forged one are reported', async () => {
    const system = await start()
    await system.allow({ for: 'uses', uses: 3 })
    await system.call('crm_write', { path: '/a' }, sales)
    const [{ id }] = (await system.rows('permission')) as [{ id: string }]
    await forge(system.db, 'UPDATE permission SET uses_left = 9')
    await system.call('crm_write', { path: '/a' }, sales)
    const changed = `permission ${id} of agent "sales": changed outside cowork before this entry`
    expect(await listProblems(system)).toEqual([changed])
    await system.call('cowork_revoke_permission', { id }, anna)
    await forge(system.db, 'UPDATE permission SET revoked_at = NULL')
    expect(await listProblems(system)).toEqual([
      changed,
      expect.stringContaining('revoked_at is null in the store'),
    ])
  })

  test('RS6 L20 a forged, inserted or deleted policy mapping is reported', async () => {
    const system = await start({
      policies: [{ id: 'strict' }, { id: 'lax' }],
      mappings: [{ agent_id: 'other', domain: 'other', policy_id: 'strict' }],
    })
    for (const domain of ['crm', 'erp']) {
      const { approval_id: id } = await propose(system, { domain })
      await decide(system, [String(id)], { policy_id: 'strict' })
    }
    expect(await system.rows('mapping')).toHaveLength(2)
    expect(await system.verify()).toMatchObject(ok)
    await forge(
      system.db,
      `UPDATE mapping SET policy = 'lax' WHERE domain = 'crm'`,
      `DELETE FROM mapping WHERE domain = 'erp'`,
      `INSERT INTO mapping (agent, domain, policy, approval, by, at) VALUES ('sales', 'bank', 'lax', 'a', 'anna', 1)`,
    )
    expect((await listProblems(system)).toSorted()).toEqual([
      'mapping of agent "sales" in domain "bank": no entry records this row',
      'mapping of agent "sales" in domain "crm": policy is "lax" in the store and "strict" in the ledger',
      'mapping of agent "sales" in domain "erp": the row is missing in the store',
    ])
  })

  test.each([
    [`path = '/'`, 'path is "/"'],
    [
      `permission = 'read-write'`,
      'permission is "read-write" in the store and "read" in the ledger',
    ],
    [`agent = '*'`, 'agent is "*" in the store and "sales" in the ledger'],
    ['revoked_at = NULL, revoked_by = NULL', 'revoked_at is null'],
    [`ino = '1'`, 'ino is "1"'],
  ])('RS6 L20 a grant forged by %s is named', async (change, named) => {
    const { start: startDaemon, docs } = await createWorld(await newStore())
    const here = await startDaemon()
    const { request_id: id } = await here.ask(docs, here.sales)
    await here.allow(id, 'folder')
    if (change.startsWith('revoked')) {
      const [grant] = await here.listed(anna)
      await here.revoke(grant?.['id'])
    }
    expect(await here.verify()).toMatchObject(ok)
    await forge(here.db, `UPDATE file_grant SET ${change}`)
    const [why] = await listProblems(here)
    expect(why).toMatch(/^grant grant_[\w-]+ of ".*": .* in the store and .* in the ledger/)
    expect(why).toContain(named)
  })

  test('L20 grants that are used, repinned, replaced, that expire or end with a session verify', async () => {
    const { start: startDaemon, docs, move } = await createWorld(await newStore())
    const here = await startDaemon()
    const file = join(docs, 'report.txt')
    await here.add(file, 'read-write')
    await here.add(docs, 'read', { expires_at: new Date(here.now() + day).toISOString() })
    const { request_id: id } = await here.ask(join(docs, 'Work'), here.sales)
    await here.allow(id, 'folder_session')
    const [grant] = here.grants.listActive()
    here.grants.recordUse(String(grant?.id))
    const from = await pinPath(file)
    writeFileSync(`${file}.new`, 'new')
    renameSync(`${file}.new`, file)
    const to = await pinPath(file)
    if (!from || !to) throw new Error('nothing is there')
    await here.ledger.transact((tx) =>
      here.grants.repin(tx, { path: file, from, to }, { id: 'call', caller: anna }),
    )
    await here.add(file, 'read')
    move(2 * day)
    await here.grants.cleanUp()
    expect((await here.entries(['grant.repinned'])).length).toBe(1)
    expect((await here.entries(['grant.revoked'])).length).toBeGreaterThan(1)
    await here.stop()
    const again = await startDaemon()
    expect(await again.verify()).toMatchObject(ok)
  })

  test('L20 trust and permissions match the ledger after any sequence of actions', async () => {
    const act = fc.constantFrom(
      'propose',
      'approve',
      'reject',
      'override',
      'set',
      'spot',
      'wrong',
      'forgive',
      'allow',
      'call',
      'revoke',
      'rest',
    )
    const story = fc.array(act, { minLength: 10, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(story, fc.constantFrom(0, 5), async (acts, cap) => {
        const clock = movableClock()
        const { tool } = actingTool('crm', 'write')
        const settings = { 'authority.volume_cap': cap, 'trust.auto_promote_after': 3 }
        const more = { tools: [tool], draw: () => 0 }
        const system = await openGoverned(settings, more, await newStore(), clock)
        const pending = async (kind: string) =>
          ((await system.rows('approval')) as { id: string; kind: string; status: string }[])
            .filter((row) => row.kind === kind && row.status === 'pending')
            .map(({ id }) => id)
            .slice(0, 1)
        const wrong = { type: 'agent_wrong', severity: 'high' }
        for (const name of acts) {
          if (name === 'propose') await propose(system)
          if (name === 'approve') await decide(system, await pending('proposal'))
          if (name === 'reject')
            await decide(system, await pending('proposal'), { decision: 'reject', override: wrong })
          if (name === 'override') await override(system, 'edge_case', { severity: 'low' })
          if (name === 'set') await trusted(system, 0.9)
          if (name === 'spot') {
            await system.governance.spotChecks.flush()
            const ids = await pending('spot_check')
            for (const id of ids) await system.governance.inbox.detail(anna, id)
            await decide(system, ids)
          }
          if (name === 'wrong')
            await decide(system, await pending('spot_check'), {
              decision: 'reject',
              override: wrong,
            })
          if (name === 'forgive') await forgive(system)
          if (name === 'allow')
            await decide(system, await pending('call'), { allow: { for: 'uses', uses: 2 } })
          if (name === 'call') await system.call('crm_write', { path: '/a' }, sales)
          if (name === 'revoke') {
            const [row] = (await system.rows('permission')) as { id: string }[]
            await system.call('cowork_revoke_permission', { id: row?.id ?? '-' }, anna)
          }
          if (name === 'rest') clock.move(3 * day)
        }
        const { ok: isOk, problems } = await system.verify()
        expect({ ok: isOk, problems }).toEqual(ok)
        // Twelve open systems would use most of the connections that PostgreSQL allows.
        await system.close()
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  test('T11 L20 SV8 evidence of an older store becomes credit once, with an entry for each row', async () => {
    const store = await newStore()
    await writeOlder(store, [
      ...olderRows,
      olderRow('support', 'crm', 0.9, 40, 0),
      ...['update_deal', 'update_deal', 'send_offer'].map((action, index) =>
        olderApproval(`a${index}`, action),
      ),
    ])
    const older = await start({}, store)
    await older.governance.convert()
    const trust = (await older.rows('trust')) as { agent: string; normal_credit: number }[]
    expect(
      Object.fromEntries(trust.map(({ agent, normal_credit: credit }) => [agent, Number(credit)])),
    ).toEqual({ sales: -70, support: 25 })
    const kinds = (await older.rows('trust_kind')) as { kind: string; credit: number }[]
    expect(Object.fromEntries(kinds.map(({ kind, credit }) => [kind, Number(credit)]))).toEqual({
      update_deal: 2,
      send_offer: 1,
    })
    expect(await older.entries(['trust.converted'])).toHaveLength(4)
    await older.governance.convert()
    expect(await older.entries(['trust.converted'])).toHaveLength(4)
    expect(await older.verify()).toMatchObject(ok)
    await approve(older, await proposed(older))
    expect(await older.verify()).toMatchObject(ok)
    await forge(older.db, `UPDATE trust_kind SET credit = 5 WHERE kind = 'send_offer'`)
    expect(await listProblems(older)).toEqual([
      'credit of agent "sales" in domain "crm" for "send_offer": credit is 5 in the store and 1 in the ledger',
    ])
  })

  test('L20 SV8 the rows of an older store are recorded once, rows inserted later are not', async () => {
    const store = await newStore()
    await writeOlder(store, olderRows)
    const older = await start({}, store)
    expect(await older.entries(['trust.', 'permission.', 'grant.', 'ledger.'])).toMatchObject([
      { type: 'trust.baselined', data: { stored: { trust: { agent: 'sales', score: 0.9 } } } },
      { type: 'permission.baselined' },
      { type: 'grant.baselined' },
      {
        type: 'ledger.baselined',
        data: { tables: ['trust', 'trust_kind', 'permission', 'mapping', 'grant'] },
      },
    ])
    expect(await older.verify()).toMatchObject(ok)
    await approve(older, await proposed(older))
    expect(await older.verify()).toMatchObject(ok)
    await forge(older.db, ...olderRows.map((sql) => sql.replaceAll('sales', 'thief')))
    await writeBaselines(older.db, recordedTables)
    expect(await older.entries(['ledger.baselined'])).toHaveLength(1)
    expect(await listProblems(older)).toEqual([
      'trust of agent "thief" in domain "crm": no entry records this row',
      expect.stringMatching(/^permission p-thief .*: no entry records this row$/),
      expect.stringMatching(/^grant grant_thief .*: no entry records this row$/),
    ])
  })
}

const olderRow = (agent: string, domain: string, score: number, good: number, bad: number) =>
  `INSERT INTO trust (agent, domain, score, approvals, overrides, streak, promoted, vouched, active_at, low_good, low_bad, normal_good, normal_bad, high_good, high_bad) VALUES ('${agent}', '${domain}', ${score}, 30, 0, 0, 1, 0, 99999999999999, 0, 0, ${good}, ${bad}, 0, 0)`
const olderApproval = (id: string, action: string) =>
  `INSERT INTO approval (id, kind, status, requester, domain, action, target, summary, mode, risk, digest, policy_version, content, "similar", needed, created_at, decided_at, decided_by, channel) VALUES ('${id}', 'proposal', 'approved', 'sales', 'crm', '${action}', 'deal', '', 'suggest', 'normal', '', '', '{"change":null,"why":{"text":"","rules":[],"high_risk_fields":[]}}', '', 1, 1, 2, 'anna', 'api')`
const olderRows = [
  olderRow('sales', 'crm', 0.9, 30.5, 2),
  `INSERT INTO permission (id, agent, tool, arguments, lasts, uses_left, approval, by, at, risk) VALUES ('p-sales', 'sales', 'crm_write', '{}', 'uses', 3, 'a', 'anna', 1, 'normal')`,
  `INSERT INTO file_grant (id, agent, node, path, kind, dev, ino, permission, scope, hard_links, granted_at, granted_by, by, access_count) VALUES ('grant_sales', 'sales', 'here', '/docs', 'folder', '1', '2', 'read', 'permanent', 0, 1, 'user_explicit', 'anna', 4)`,
]

/** A store of an earlier version: rows, and entries that do not record them. */
async function writeOlder(store: Store, rows: readonly string[]): Promise<void> {
  const now = () => 1
  const sealer = createSealer(store.dialect, createRedactor({ secrets: [], patterns: [] }), now)
  const db = await store.open(sealer)
  await migrate(db, migrations, 0)
  const ledger = await openLedger({
    db,
    sealer,
    openKey: (known) => loadOrCreateKey(store.keys, known),
    copyCheckpoint: () => undefined,
    now,
    log: silentLog,
  })
  await ledger.record({ type: 'daemon.started', actor: systemActor })
  await forge(db, ...rows)
  await ledger.close()
  await db.close()
}
