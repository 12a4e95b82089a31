import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, inject, test } from 'vitest'
import { verify as verifyStored } from '../src/cli/audit-verify.ts'
import { backup as backupTo, restore as restoreFrom } from '../src/cli/backup.ts'
import { startTestApp } from './app.ts'
import { testPlace } from './cli.ts'
import { runCommandWithState } from './commands.ts'
import { createTestDatabase } from './databases.ts'
import { fillState } from './filled-state.ts'

type Place = ReturnType<typeof testPlace>

const backup = ({ state }: Place, file: string) =>
  runCommandWithState(state, (context) => backupTo(context, file))
const restore = ({ state }: Place, file: string, force = false) =>
  runCommandWithState(state, (context) => restoreFrom(context, file, { force }))
const verify = ({ state }: Place) =>
  runCommandWithState(state, (context) => verifyStored(context, undefined, { deep: true }))

function change(file: string, sql: string) {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** Creates an empty state, without configuration. */
function emptyPlace(): Place {
  const place = testPlace()
  rmSync(place.paths.config)
  return place
}

async function filled(entries: number, config = '') {
  const place = testPlace(config)
  await fillState(place.state, entries)
  return { place, file: join(place.state, 'a.backup') }
}

test('K8 backs up a running daemon, and another machine continues from the backup', async () => {
  const { place, file } = await filled(300, 'audit: { redact: ["CUST-[0-9]+"] }\n')
  writeFileSync(join(place.state, 'agents', 'desk%2F1.token'), 'ak-secret\n')
  const app = await startTestApp({}, { state: place.state })
  let isBusy = true
  const calls = (async () => {
    let count = 0
    for (; isBusy; count++)
      await app.call('cowork_log', { domain: 'crm', action: 'a', target: `t${count}` })
    return count
  })()
  const made = await backup(place, file)
  isBusy = false
  expect(await calls).toBeGreaterThan(0)
  await app.close()
  expect(made).toMatchObject({
    code: 0,
    files: [
      'cowork.yaml',
      'ledger.key',
      'ledger.pub',
      'owner.token',
      'node',
      'checkpoints.jsonl',
      'agents/desk%2F1.token',
    ],
  })
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const other = emptyPlace()
  expect(await restore(other, file)).toMatchObject({ code: 0, entries: made['entries'] })
  expect(await verify(other)).toMatchObject({ ok: true, entries: made['entries'] })
  for (const name of ['cowork.yaml', 'ledger.key', 'owner.token', 'agents/desk%2F1.token'])
    expect(readFileSync(join(other.state, name))).toEqual(readFileSync(join(place.state, name)))
  expect(statSync(join(other.state, 'ledger.key')).mode & 0o777).toBe(0o600)
  const again = await startTestApp({}, { state: other.state })
  expect((await again.call('cowork_status')).status).toBe(200)
  await again.close()
  expect(await verify(other)).toMatchObject({ ok: true })
})

test('K8 restore refuses while a daemon runs, and over existing state without --force', async () => {
  const { place, file } = await filled(20)
  expect((await backup(place, file)).code).toBe(0)
  expect((await backup(place, file)).error).toMatchObject({ code: 'usage' })
  const app = await startTestApp({}, { state: place.state })
  expect((await restore(place, file, true)).error).toMatchObject({ code: 'daemon_running' })
  await app.close()
  const later = await verify(place)
  expect((await restore(place, file)).error).toMatchObject({ code: 'state_in_the_way' })
  expect(await verify(place)).toMatchObject({ entries: later['entries'] })

  const restored = await restore(place, file, true)
  expect(restored).toMatchObject({ code: 0, entries: 20 })
  expect(await verify(place)).toMatchObject({ ok: true, entries: 20 })
  const [aside] = readdirSync(place.state).filter((name) => name.startsWith('before-restore-'))
  const old = testPlace()
  for (const name of ['cowork.db', 'ledger.pub'])
    writeFileSync(join(old.state, name), readFileSync(join(place.state, aside ?? '', name)))
  mkdirSync(join(old.state, 'checkpoints'))
  writeFileSync(
    join(old.state, 'checkpoints/checkpoints.jsonl'),
    readFileSync(join(place.state, aside ?? '', 'checkpoints/checkpoints.jsonl')),
  )
  expect(await verify(old)).toMatchObject({ ok: true, entries: later['entries'] })
})

test('K8 refuses a damaged, modified, newer or foreign backup', async () => {
  const { place, file } = await filled(50)
  const other = emptyPlace()
  const spoilt = async (sql: string) => {
    const copy = join(place.state, 'copy.backup')
    rmSync(copy, { force: true })
    writeFileSync(copy, readFileSync(file))
    change(copy, sql)
    return (await restore(other, copy)).error
  }
  await backup(place, file)
  expect(await spoilt('DELETE FROM ledger_payload WHERE seq = 7')).toMatchObject({
    code: 'ledger_broken',
    message: expect.stringContaining('entry 7'),
  })
  expect(await spoilt(`INSERT INTO migration VALUES ('ledger-999', 1)`)).toMatchObject({
    code: 'store_is_newer',
  })
  for (const name of ['../evil', 'agents/../evil.token', '/etc/x', '__proto__'])
    expect(await spoilt(`INSERT INTO backup_file VALUES ('${name}', 'x')`)).toMatchObject({
      code: 'not_a_backup',
    })
  expect(await spoilt(`DELETE FROM backup_file WHERE name = 'backup.json'`)).toMatchObject({
    code: 'backup_is_newer',
  })
  expect(await spoilt('DROP TABLE backup_file')).toMatchObject({ code: 'not_a_backup' })

  const damaged = openSync(file, 'r+')
  for (let at = 8192; at < 60_000; at += 4096) writeSync(damaged, 'damage', at)
  closeSync(damaged)
  expect((await restore(other, file)).error).toMatchObject({ code: 'store_damaged' })
  writeFileSync(file, 'no backup')
  expect((await restore(other, file)).error).toMatchObject({ code: 'store_damaged' })
  expect((await restore(other, join(place.state, 'gone'))).error).toMatchObject({
    code: 'not_found',
  })
  for (const name of ['cowork.db', 'cowork.yaml', 'ledger.key', 'evil', 'cowork.db.part'])
    expect(existsSync(join(other.state, name))).toBe(false)
})

test('K8 backs up an invalid ledger unchanged and reports it', async () => {
  const { place, file } = await filled(50)
  change(place.paths.store, 'DELETE FROM ledger_payload WHERE seq = 7')
  expect(await backup(place, file)).toMatchObject({
    code: 1,
    first_bad: { seq: 7, why: 'the payload is missing' },
  })
  expect(existsSync(file)).toBe(true)
})

test('K8 SV7 backs up a PostgreSQL store and restores it into an empty one', async () => {
  const [from, to] = await Promise.all([1, 2].map(() => createTestDatabase(inject('postgresUrl'))))
  const place = testPlace('storage: { url: "env:STORE" }\n')
  const settings = { 'storage.url': from }
  const app = await startTestApp(settings, { state: place.state })
  await app.call('cowork_log', { domain: 'crm', action: 'a', target: 't' })
  await app.close()
  const file = join(place.state, 'a.backup')
  const made = await runCommandWithState(place.state, (context) => backupTo(context, file), {
    STORE: from ?? '',
  })
  expect(made).toMatchObject({ code: 0 })

  const other = emptyPlace()
  const into = (url = '') =>
    runCommandWithState(other.state, (context) => restoreFrom(context, file, {}), { STORE: url })
  expect((await into(from)).error).toMatchObject({ code: 'store_not_empty' })
  expect(existsSync(other.paths.config)).toBe(false)
  expect(await into(to)).toMatchObject({ code: 0, entries: made['entries'] })
  const again = await startTestApp({ 'storage.url': to }, { state: other.state })
  expect((await again.call('cowork_status')).status).toBe(200)
  await again.close()
})

test('K8 after kill -9 during backup or restore, existing data is intact and a retry succeeds', async () => {
  const { place, file } = await filled(10_000)
  const killed = async (args: string[], sign: string) => {
    const child = place.start(args)
    await expect.poll(() => existsSync(sign), { timeout: 20_000, interval: 5 }).toBe(true)
    child.kill('SIGKILL')
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    expect(await verify(place)).toMatchObject({ ok: true, entries: 10_000 })
  }
  await killed(['backup', file], `${file}.part-journal`)
  expect(existsSync(file)).toBe(false)
  const { code, stdout } = await place.cowork(['backup', file])
  expect([code, stdout]).toEqual([0, expect.stringContaining('10000 entries')])
  await killed(['restore', file, '--force'], `${place.paths.store}.part-journal`)
  expect(await restore(place, file, true)).toMatchObject({ code: 0, entries: 10_000 })
  expect(await verify(place)).toMatchObject({ ok: true, entries: 10_000 })
  expect(readdirSync(place.state).filter((name) => name.includes('.part'))).toEqual([])
})
