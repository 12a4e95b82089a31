import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  ensureStateDir,
  isLocked,
  readOrCreateOwnerToken,
  readDaemonInfo,
  statePaths,
  acquireLock,
} from './state.ts'

function folder() {
  const paths = statePaths(join(mkdtempSync(join(tmpdir(), 'cowork-state-')), 'state'))
  ensureStateDir(paths)
  return paths
}

test('SV4 the lock is exclusive and free after release', () => {
  const paths = folder()
  expect(isLocked(paths)).toBe(false)
  const release = acquireLock(paths)
  expect(isLocked(paths)).toBe(true)
  expect(() => acquireLock(paths)).toThrow(/Another process has locked/)
  writeFileSync(
    paths.daemon,
    JSON.stringify({ pid: 7, port: 8765, version: '1', startedAt: 'noon' }),
  )
  expect(() => acquireLock(paths)).toThrow(/process 7, port 8765, since noon/)
  release()
  expect(isLocked(paths)).toBe(false)
})

test('SV4 an invalid daemon file counts as no daemon', () => {
  const paths = folder()
  expect(readDaemonInfo(paths)).toBeUndefined()
  writeFileSync(paths.daemon, '{')
  expect(readDaemonInfo(paths)).toBeUndefined()
})

test('SV4 a long state directory path gets a stable socket in the temporary folder', () => {
  const deep = `/tmp/${'deep/'.repeat(30)}`
  expect(statePaths(deep).socket).toBe(statePaths(deep).socket)
  expect(Buffer.byteLength(statePaths(deep).socket)).toBeLessThan(100)
  expect(statePaths(deep).socket).not.toBe(statePaths(`${deep}x`).socket)
})

test('I10 the owner’s token is created once and, like the folder, private to the user', () => {
  const paths = folder()
  expect(readOrCreateOwnerToken(paths)).toMatch(/^pk-cowork-[0-9a-f]{48}$/)
  expect(readOrCreateOwnerToken(paths)).toBe(readOrCreateOwnerToken(paths))
  expect(statSync(paths.ownerToken).mode & 0o777).toBe(0o600)
  expect(statSync(paths.dir).mode & 0o777).toBe(0o700)
})
