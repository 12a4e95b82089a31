import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLogFile, followLines, formatLogLine } from './logs.ts'

function tempLog() {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, path: join(folder, 'cowork.log') }
}

test('SV3 rotates the log at its size limit and keeps five old files', () => {
  const { folder, path } = tempLog()
  const write = createLogFile(path, 10)
  for (let line = 0; line < 20; line++) write(`line number ${line}\n`)
  expect(readdirSync(folder).toSorted()).toEqual(
    ['', '.1', '.2', '.3', '.4', '.5'].map((age) => `cowork.log${age}`),
  )
  expect(readFileSync(path, 'utf8')).toBe('line number 19\n')
  expect(readFileSync(`${path}.5`, 'utf8')).toBe('line number 14\n')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('SV3 following misses no line when the log is rotated', async () => {
  const { path } = tempLog()
  const write = createLogFile(path, 12)
  write('before\n')
  const lines = followLines(path, openSync(path, 'r'), 'before\n'.length)
  const next = async () => (await lines.next()).value
  write('half ')
  write('a line\n')
  write('in a second file\n')
  expect(await next()).toBe('half a line')
  expect(await next()).toBe('in a second file')
  const pending = next()
  write('in a third file\n')
  expect(await pending).toBe('in a third file')
  await lines.return()
})

test('K2 formats a log line, and shows one that is not JSON unchanged', () => {
  const line = JSON.stringify({
    at: '2026-11-15T09:00:00.000Z',
    level: 'warn',
    scope: 'http',
    message: 'slow \u001b[2J',
    ms: 12,
  })
  expect(formatLogLine(line)).toBe('2026-11-15T09:00:00.000Z warn  http: slow \uFFFD[2J ms=12')
  expect(formatLogLine('Error: out of memory')).toBe('Error: out of memory')
  expect(formatLogLine('{"level":"constructor","at":"x"}')).toBe('{"level":"constructor","at":"x"}')
})
