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

test('K12 a purge deletes what is cowork’s and leaves what is not', () => {
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

test('K12 a state folder that held nothing else goes too; a home folder or root never does', () => {
  const state = folder()
  ensureStateDir(statePaths(state))
  expect(purge(state)).toEqual([])
  expect(existsSync(state)).toBe(false)
  expect(purge(state)).toEqual([])
  expect(() => purge(homedir())).toThrow('not a folder of cowork’s own')
  expect(() => purge('/')).toThrow('not a folder of cowork’s own')
})
