import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { testPlace } from './cli.ts'

type Finding = { check: string; state: string; message: string; remedy?: string }
type Place = ReturnType<typeof testPlace>

async function doctor({ cowork }: Place, ...args: string[]) {
  const { code, stdout, stderr } = await cowork(['doctor', '--json', ...args])
  const { findings } = JSON.parse(stdout || stderr) as { findings: Finding[] }
  return { code, of: (check: string) => findings.filter((one) => one.check === check), findings }
}

test('K5 a healthy daemon passes all checks, and each line names its check', async () => {
  const place = testPlace()
  await place.cowork(['start'])
  await place.cowork(['connect', 'codex', '--yes'])
  const { code, findings } = await doctor(place, '--deep')
  expect(
    findings.filter(
      ({ state, check }) => state !== 'ok' && !['disk', 'containment'].includes(check),
    ),
  ).toEqual([])
  expect(code).toBe(0)
  expect(new Set(findings.map(({ check }) => check))).toEqual(
    new Set([
      'config',
      'runtime',
      'files',
      'disk',
      'daemon',
      'port',
      'bind',
      'store',
      'clock',
      'ledger',
      'workspace',
      'containment',
      'grants',
      'work',
      'clients',
    ]),
  )
  const text = await place.cowork(['doctor'])
  expect(text.stdout).toMatch(/^ok {4}ledger {6}the newest of \d+ entries verify/m)
})

test('K5 missing state is a warning with a remedy, not a failure', async () => {
  const place = testPlace()
  rmSync(place.paths.config)
  const { code, of } = await doctor({
    ...place,
    cowork: (args) => place.cowork(args, { COWORK_STATE_DIR: join(place.state, 'new') }),
  })
  expect(code).toBe(0)
  for (const check of ['files', 'daemon', 'store'])
    expect(of(check)).toMatchObject([{ state: 'warn', remedy: expect.stringContaining('cowork') }])
})

test('K5 an invalid setting, a used port, an open bind and readable secrets fail with a remedy', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((listening) => other.on('listening', listening))
  const { port } = other.address() as AddressInfo
  const place = testPlace()
  writeFileSync(place.paths.config, `server:\n  port: ${port}\n  host: 0.0.0.0\n`)
  writeFileSync(place.paths.ownerToken, 'x', { mode: 0o644 })
  chmodSync(place.state, 0o755)
  const { code, of } = await doctor(place)
  expect(code).toBe(1)
  expect(of('port')).toMatchObject([
    { state: 'fail', message: expect.stringContaining(String(port)) },
  ])
  expect(of('bind')).toMatchObject([
    { state: 'fail', remedy: expect.stringContaining('server.tls') },
  ])
  expect(of('files').map(({ remedy }) => remedy)).toEqual([
    `chmod 700 ${place.state}`,
    `chmod 600 ${place.paths.ownerToken}`,
  ])
  writeFileSync(place.paths.config, 'server:\n  prot: 1\n')
  const [config] = (await doctor(place)).of('config')
  expect(config).toMatchObject({
    state: 'fail',
    message: expect.stringContaining('cowork.yaml:2:3'),
  })
})

test('K5 reports a client entry that is missing, changed, without token or revoked', async () => {
  const place = testPlace()
  await place.cowork(['start'])
  await place.cowork(['connect', 'cursor', '--yes'])
  const file = join(place.state, '.cursor', 'mcp.json')
  const text = readFileSync(file, 'utf8')
  const drift = async () => (await doctor(place)).of('clients')
  writeFileSync(file, text.replace('"--agent"', '"--agent", "x"'))
  expect(await drift()).toMatchObject([
    { state: 'warn', message: expect.stringContaining('changed') },
  ])
  writeFileSync(file, text.replace('bin/cowork.mjs', 'bin/gone.mjs'))
  expect(await drift()).toMatchObject([
    { state: 'fail', message: expect.stringContaining('gone.mjs') },
  ])
  writeFileSync(file, '{}')
  expect(await drift()).toMatchObject([
    { state: 'warn', message: expect.stringContaining('is missing') },
  ])
  writeFileSync(file, '{')
  expect(await drift()).toMatchObject([{ state: 'warn', message: expect.stringContaining(':1:2') }])
  writeFileSync(file, text)
  const token = readFileSync(place.paths.agentToken('cursor'), 'utf8')
  rmSync(place.paths.agentToken('cursor'))
  expect(await drift()).toMatchObject([
    { state: 'fail', message: expect.stringContaining('Token') },
  ])
  writeFileSync(place.paths.agentToken('cursor'), token, { mode: 0o600 })
  await place.cowork(['agents', 'revoke', 'cursor'])
  expect(await drift()).toMatchObject([
    { state: 'fail', message: expect.stringContaining('revoked') },
  ])
})

test('K5 a modified ledger fails: at its end always, further back with --deep', async () => {
  const place = testPlace()
  await place.cowork(['start'])
  for (let i = 0; i < 3; i++) await place.cowork(['agents', 'add', `a${i}`])
  await place.cowork(['down'])
  const change = (sql: string) => {
    const store = new DatabaseSync(place.paths.store)
    for (const { name } of store
      .prepare("select name from sqlite_master where type = 'trigger'")
      .all())
      store.exec(`drop trigger "${String(name)}"`)
    store.exec(sql)
    store.close()
  }
  change("update ledger_entry set actor = 'somebody' where seq = 2")
  expect((await doctor(place)).of('ledger')).toMatchObject([{ state: 'ok' }])
  const deep = await doctor(place, '--deep')
  expect(deep.code).toBe(1)
  expect(deep.of('ledger')).toMatchObject([
    { state: 'fail', message: expect.stringContaining('Entry 2') },
  ])
  change("update ledger_entry set body = replace(body, 'a2', 'b2')")
  expect((await doctor(place)).of('ledger')).toMatchObject([{ state: 'fail' }])
})

test('K5 reports what prevents a start: no key, no store, a readable owner token', async () => {
  const place = testPlace()
  const { paths } = place
  await place.cowork(['start'])
  await place.cowork(['down'])
  chmodSync(paths.ownerToken, 0o644)
  const open = await doctor(place)
  expect(open.code).toBe(1)
  expect(open.of('files')).toMatchObject([
    { state: 'fail', remedy: `chmod 600 ${paths.ownerToken}` },
  ])
  chmodSync(paths.ownerToken, 0o600)

  const key = readFileSync(paths.ledgerKey)
  rmSync(paths.ledgerKey)
  const unsigned = await doctor(place)
  expect(unsigned.code).toBe(1)
  expect(unsigned.of('store')).toMatchObject([
    { state: 'ok' },
    { state: 'fail', message: expect.stringContaining(paths.ledgerKey) },
  ])
  expect(await place.cowork(['start'])).toMatchObject({ code: 1 })
  writeFileSync(paths.ledgerKey, key, { mode: 0o600 })
  expect((await doctor(place)).code).toBe(0)

  for (const end of ['', '-wal', '-shm']) rmSync(`${paths.store}${end}`, { force: true })
  const gone = await doctor(place)
  expect(gone.code).toBe(1)
  expect(gone.of('store')).toMatchObject([
    { state: 'fail', message: expect.stringContaining('entries are missing') },
  ])
  expect(await place.cowork(['start'])).toMatchObject({ code: 1 })
})

test('K5, W1 reports an unusable data root with its cause, before and after the start', async () => {
  const place = testPlace('work: { data_root: taken/below }\n')
  writeFileSync(join(place.state, 'taken'), 'a file')
  const before = await doctor(place)
  expect(before.code).toBe(1)
  expect(before.of('work')).toMatchObject([
    { state: 'fail', message: expect.stringContaining('taken is not a folder') },
  ])
  await place.cowork(['start'])
  const after = await doctor(place)
  expect(after.code).toBe(1)
  const [work] = after.of('work')
  expect(work).toMatchObject({ state: 'fail', message: expect.stringContaining('Cannot use') })
  expect(work?.remedy).toContain('WORKSYNC_DATA_ROOT')
  expect(work?.remedy).not.toContain('other daemon')
})
