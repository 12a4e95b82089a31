import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../src/base/log.ts'
import { statePaths } from '../src/base/state.ts'
import { startTestApp } from './app.ts'

type Line = Record<string, unknown>

function newState() {
  const state = mkdtempSync(join(tmpdir(), 'cowork-audit-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  return { state, log: join(state, 'logs', 'audit.jsonl'), mirror: statePaths(state).ledgerMirror }
}

const readText = (path: string) => readFileSync(path, 'utf8')
const readLines = (path: string) =>
  readText(path)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)

/** A stopped state with every kind of file operation. */
async function filledState() {
  const place = newState()
  const outside = mkdtempSync(join(tmpdir(), 'cowork-granted-'))
  onTestFinished(() => rmSync(outside, { recursive: true, force: true }))
  writeFileSync(join(outside, 'report.txt'), 'twelve bytes')
  const app = await startTestApp({}, { state: place.state })
  await app.call('add_grant', { path: outside, permission: 'read' })
  await app.call('create_file', { path: 'a.txt', content: 'hello' })
  await app.call('create_file', { path: 'b.txt', content: 'x' })
  await app.call('read_files', { paths: ['a.txt', 'missing.txt', join(outside, 'report.txt')] })
  await app.call('read_file', { path: join(outside, 'report.txt') })
  await app.call('read_file', { path: '/etc/passwd' })
  await app.call('cowork_status', {})
  let entries: Line[] = []
  // The entry of a read is part of the next commit.
  await expect
    .poll(async () => {
      const answer = await app.call('get_audit_log', { limit: 1000 })
      ;({ entries } = ((await answer.json()) as { output: { entries: Line[] } }).output)
      return entries.map(({ path }) => path)
    })
    .toContain('/etc/passwd')
  await app.close()
  return { ...place, outside, workspace: app.workspace, entries }
}

test('RM8 L9 audit.log_path has one line per file operation, with the fields of File Ops', async () => {
  const { log, outside, workspace } = await filledState()
  const lines = readLines(log)
  const about = (operation: string) => lines.filter((line) => line['operation'] === operation)
  const [created] = about('create_file')
  expect(created).toEqual({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    operation: 'create_file',
    path: join(workspace, 'a.txt'),
    domain: 'workspace',
    agent_id: 'owner',
    session_id: expect.any(String),
    success: true,
    size_bytes: 5,
    seq: expect.any(Number),
  })
  expect(about('read_files').map(({ path, domain, success }) => [path, domain, success])).toEqual([
    [join(workspace, 'a.txt'), 'workspace', true],
    [join(workspace, 'missing.txt'), 'workspace', false],
    [join(outside, 'report.txt'), 'granted', true],
  ])
  expect(about('read_file')).toMatchObject([
    {
      path: join(outside, 'report.txt'),
      domain: 'granted',
      grant_id: expect.any(String),
      success: true,
      size_bytes: 12,
    },
    { path: '/etc/passwd', domain: 'granted', success: false },
  ])
  expect(about('cowork_status')).toEqual([])
})

test('RM8 L10 the log matches get_audit_log', async () => {
  const { log, entries } = await filledState()
  const files = entries.filter(({ domain }) => domain === 'workspace' || domain === 'granted')
  const sorted = (lines: readonly Line[]) => lines.map((line) => JSON.stringify(line)).toSorted()
  const lines = readLines(log).map(
    ({ seq, ...line }) => (expect(seq).toEqual(expect.any(Number)), line),
  )
  expect(sorted(lines.filter(({ operation }) => operation !== 'get_audit_log'))).toEqual(
    sorted(files),
  )
})

test('RM8 L9 the log recovers from any truncation without missing or duplicate lines', async () => {
  const { state, log } = await filledState()
  const whole = readText(log)
  const again = async () => {
    const app = await startTestApp({}, { state })
    await app.close()
    return readText(log)
  }
  for (const cut of [whole.length - 3, whole.lastIndexOf('\n', whole.length - 2) + 1, 40, 0]) {
    truncateSync(log, cut)
    expect(await again()).toBe(whole)
  }
  // Between the lines of the call with three files.
  truncateSync(log, whole.indexOf('\n', whole.indexOf('read_files')) + 1)
  expect(await again()).toBe(whole)
  rmSync(log)
  expect(await again()).toBe(whole)
  expect(readdirSync(join(state, 'logs')).filter((name) => name.includes('aside'))).toEqual([])
})

test('RM8 a ledger mirror of 0.1.0 is migrated and reported once', async () => {
  const { state, log, mirror } = await filledState()
  const operations = readText(log)
  const entries = readText(mirror)
  // The files of 0.1.0: a rotated and a current one, both with ledger entries.
  const lines = entries.split('\n').slice(0, -1)
  writeFileSync(join(state, 'logs', 'audit-1-3.jsonl'), `${lines.slice(0, 3).join('\n')}\n`)
  writeFileSync(log, `${lines.slice(3).join('\n')}\n`)
  rmSync(mirror)
  const logged: string[] = []
  const start = async () => {
    const write = (line: string) => void logged.push(line)
    const app = await startTestApp(
      {},
      { state, log: createLog({ level: 'info', json: true, write }) },
    )
    await app.close()
  }
  await start()
  await start()
  expect(logged.filter((line) => line.includes('ledger mirror moved'))).toHaveLength(1)
  expect(logged.filter((line) => line.includes('aside'))).toEqual([])
  expect(readText(log)).toBe(operations)
  const moved = readText(join(state, 'logs', 'ledger-1-3.jsonl')) + readText(mirror)
  expect(moved.startsWith(entries)).toBe(true)
  expect(existsSync(join(state, 'logs', 'audit-1-3.jsonl'))).toBe(false)
})

test('RM8 an old ledger mirror is quarantined if the new one exists', async () => {
  const { state, log, mirror } = await filledState()
  const operations = readText(log)
  const old = readText(mirror)
  writeFileSync(log, old)
  const app = await startTestApp({}, { state })
  await app.close()
  expect(readText(log)).toBe(operations)
  const aside = readdirSync(join(state, 'logs')).filter((name) => name.includes('.aside-'))
  expect(aside.map((name) => readText(join(state, 'logs', name)))).toEqual([old])
})

test('RM8 audit.log_path cannot be the file of the ledger mirror', async () => {
  const { state, mirror } = newState()
  await expect(startTestApp({ 'audit.log_path': mirror }, { state })).rejects.toMatchObject({
    code: 'config_invalid',
  })
})

test('RM8 L10 the log is rotated at audit.max_log_size_mb and continues', async () => {
  const { state, workspace } = await filledState()
  const app = await startTestApp({ 'audit.max_log_size_mb': 1 }, { state })
  const deep = `${'d'.repeat(200)}/`.repeat(10)
  const paths = Array.from({ length: 20 }, (_, n) => `${deep}${n}.txt`)
  for (let round = 0; round < 25; round++) await app.call('read_files', { paths })
  await app.close()
  const names = readdirSync(join(state, 'logs')).filter((name) => name.startsWith('audit'))
  expect(names.length).toBeGreaterThan(1)
  const all = names.flatMap((name) => readLines(join(state, 'logs', name)))
  expect(all.filter(({ path }) => path === join(workspace, paths[7] ?? ''))).toHaveLength(25)
})
