import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '../src/base/state.ts'
import { startTestApp } from './app.ts'
import { configure, startDaemon } from './daemon.ts'
import { fillState } from './filled-state.ts'

function newState() {
  const state = mkdtempSync(join(tmpdir(), 'cowork-mirror-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  return state
}

const logs = (state: string) => join(state, 'logs')

/** Reads the lines of all mirror files, ordered by name. */
function mirrored(state: string): string[] {
  const first = (name: string) => Number(/-(\d+)-\d+\.jsonl$/.exec(name)?.[1] ?? Infinity)
  return readdirSync(logs(state))
    .filter((name) => /^ledger(-\d+-\d+)?\.jsonl$/.test(name))
    .sort((a, b) => first(a) - first(b))
    .flatMap((name) =>
      readFileSync(join(logs(state), name), 'utf8')
        .split('\n')
        .slice(0, -1),
    )
}

function recorded(state: string): string[] {
  const db = new DatabaseSync(statePaths(state).store)
  const rows = db.prepare('SELECT body FROM ledger_entry ORDER BY seq').all()
  db.close()
  return rows.map(({ body }) => String(body))
}

test('L9 L10 a mirror has no missing or duplicate lines after repeated kills', async () => {
  const state = newState()
  configure(state)
  appendFileSync(statePaths(state).config, 'audit: { max_log_size_mb: 1 }\n')
  await fillState(state, 12_000)
  for (const wait of [0, 5, 40, 150]) {
    const daemon = await startDaemon(state)
    const act = (i: number) =>
      fetch(`http://localhost:${daemon.port}/api/tools/cowork_log/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${daemon.owner}`, 'content-type': 'application/json' },
        body: JSON.stringify({ arguments: { domain: 'crm', action: 'a', target: `t${i}` } }),
      }).catch(() => undefined)
    const calls = Promise.all(Array.from({ length: 200 }, (_, i) => act(i)))
    await sleep(wait)
    await daemon.kill('SIGKILL')
    await calls
  }
  const last = await startDaemon(state)
  await last.kill('SIGTERM')
  expect(mirrored(state)).toEqual(recorded(state))
  expect(readdirSync(logs(state)).filter((name) => name.includes('aside'))).toEqual([])
  expect(readdirSync(logs(state)).length).toBeGreaterThan(4)
})

const readLines = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n')

test('L9 the mirrors are private, and off with audit.enabled false', async () => {
  const state = newState()
  const path = join(state, 'elsewhere', 'trail.log')
  const on = await startTestApp({ 'audit.log_path': path }, { state })
  await on.call('create_file', { path: 'a.txt', content: 'x' })
  await on.close()
  const before = recorded(state)
  expect(readLines(statePaths(state).ledgerMirror)).toEqual(before)
  expect(readLines(path)).toHaveLength(1)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const off = await startTestApp({ 'audit.log_path': path, 'audit.enabled': false }, { state })
  await off.call('create_file', { path: 'b.txt', content: 'x' })
  await off.close()
  expect(recorded(state).length).toBeGreaterThan(before.length)
  expect(readLines(statePaths(state).ledgerMirror)).toEqual(before)
  expect(readLines(path)).toHaveLength(1)
  expect(existsSync(join(logs(state), 'audit.jsonl'))).toBe(false)
})

test('L8 payloads older than audit.payload_days are erased; 0 keeps them', async () => {
  const state = newState()
  await fillState(state, 10)
  const later = () => Date.now() + 91 * 86_400_000
  const kept = () => {
    const db = new DatabaseSync(statePaths(state).store)
    const [row] = db.prepare('SELECT count(*) AS count FROM ledger_payload WHERE seq <= 10').all()
    db.close()
    return Number(row?.['count'])
  }
  const keeping = await startTestApp({ 'audit.payload_days': 0 }, { state, now: later })
  await keeping.close()
  expect(kept()).toBe(10)
  const erasing = await startTestApp({}, { state, now: later })
  await expect.poll(kept).toBe(0)
  await erasing.close()
})
