import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import { absoluteCommand, commandName } from './launcher.ts'

/** Creates a checkout with its launcher, a folder of links, and the PATH that npm sets. */
function createMachine() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-launcher-')))
  onTestFinished(() => rmSync(top, { recursive: true }))
  const checkout = join(top, 'checkout')
  const ours = join(checkout, 'bin', 'cowork.mjs')
  const links = join(top, 'links')
  const shims = join(checkout, 'node_modules', '.bin')
  for (const folder of [join(checkout, 'bin'), links, shims]) mkdirSync(folder, { recursive: true })
  writeFileSync(ours, '')
  symlinkSync(ours, join(shims, 'cowork'))
  const PATH = [shims, links].join(delimiter)
  const location = (dir: string) => ({ paths: statePaths(dir), locationArgs: ['--state', dir] })
  const link = (to: string) => symlinkSync(to, join(links, 'cowork'))
  return { top, checkout, ours, PATH, location, link }
}

test('K3 under npm, commands are shown with npx where npx works', () => {
  const { top, checkout, ours, PATH, link } = createMachine()
  expect(commandName({ PATH }, ours)).toBe('cowork')
  expect(commandName({ PATH, npm_config_local_prefix: checkout }, ours)).toBe('npx cowork')
  // Under another project's npm, npx does not find cowork.
  expect(commandName({ PATH, npm_config_local_prefix: join(top, 'check') }, ours)).toBe('cowork')
  link(ours)
  expect(commandName({ PATH, npm_config_local_prefix: checkout }, ours)).toBe('cowork')
})

test('C9, K4 a command copied from the console runs in any folder, on the same state', () => {
  const { top, ours, PATH, location, link } = createMachine()
  const standard = location(join(homedir(), '.cowork'))
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['node', ours])
  const other = location(join(top, 'state'))
  const expected = ['node', ours, '--state', join(top, 'state')]
  expect(absoluteCommand({ env: { PATH }, ...other }, ours)).toEqual(expected)
  link(ours)
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['cowork'])
})

test('K4 ignores another program of that name on the PATH', () => {
  const { top, ours, PATH, location, link } = createMachine()
  writeFileSync(join(top, 'other'), '')
  link(join(top, 'other'))
  const standard = location(join(homedir(), '.cowork'))
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['node', ours])
})
