import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import { absoluteCommand, commandName } from './launcher.ts'

/** A checkout with its launcher, a folder of links, and what npm sets where it runs something in the checkout. */
function machine() {
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
  const place = (dir: string) => ({ paths: statePaths(dir), locationArgs: ['--state', dir] })
  const link = (to: string) => symlinkSync(to, join(links, 'cowork'))
  return { top, checkout, ours, PATH, place, link }
}

test('K3 under npm a person is told to write npx, which works where they are', () => {
  const { top, checkout, ours, PATH, link } = machine()
  expect(commandName({ PATH }, ours)).toBe('cowork')
  expect(commandName({ PATH, npm_config_local_prefix: checkout }, ours)).toBe('npx cowork')
  // Another project's npm runs us: there npx finds nothing of ours.
  expect(commandName({ PATH, npm_config_local_prefix: join(top, 'check') }, ours)).toBe('cowork')
  link(ours)
  expect(commandName({ PATH, npm_config_local_prefix: checkout }, ours)).toBe('cowork')
})

test('C9, K4 what is copied from the console runs in any folder, on the same state', () => {
  const { top, ours, PATH, place, link } = machine()
  const standard = place(join(homedir(), '.cowork'))
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['node', ours])
  const other = place(join(top, 'state'))
  const words = ['node', ours, '--state', join(top, 'state')]
  expect(absoluteCommand({ env: { PATH }, ...other }, ours)).toEqual(words)
  link(ours)
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['cowork'])
})

test('K4 another program of that name on the PATH is not ours', () => {
  const { top, ours, PATH, place, link } = machine()
  writeFileSync(join(top, 'stranger'), '')
  link(join(top, 'stranger'))
  const standard = place(join(homedir(), '.cowork'))
  expect(absoluteCommand({ env: { PATH }, ...standard }, ours)).toEqual(['node', ours])
})
