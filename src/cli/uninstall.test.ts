import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ensureStateDir, statePaths } from '#base/state.ts'
import { purge } from './disconnect.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cowork-purge-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('K12 a purge deletes only files of cowork', () => {
  const state = folder()
  const paths = statePaths(state)
  ensureStateDir(paths)
  const { store, lock, ownerToken, ledgerKey, ledgerPublicKey, config, log, daemon, pid } = paths
  for (const file of [
    store,
    lock,
    ownerToken,
    ledgerKey,
    ledgerPublicKey,
    config,
    log,
    daemon,
    pid,
  ])
    writeFileSync(file, '')
  mkdirSync(join(state, 'holiday'))
  writeFileSync(join(state, 'thesis.txt'), '')
  expect(purge(state)).toEqual(['holiday', 'thesis.txt'])
  expect(readdirSync(state)).toEqual(['holiday', 'thesis.txt'])
})

test('K12 removes an empty state directory, but never a home folder or root', () => {
  const state = folder()
  ensureStateDir(statePaths(state))
  expect(purge(state)).toEqual([])
  expect(existsSync(state)).toBe(false)
  expect(purge(state)).toEqual([])
  expect(() => purge(homedir())).toThrow('Not a state directory')
  expect(() => purge('/')).toThrow('Not a state directory')
})
