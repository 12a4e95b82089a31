import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { modules } from '../src/app/modules.ts'
import { settingsWithoutEffect } from '../src/base/config/no-effect.ts'

const source = globSync('src/**/*.ts')
  .filter((file) => !/test\.ts$|manifest\.ts$/.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

/** Event types of notifications and browsers, which are not ledger entries. */
const others = [
  'approval.decided',
  'approval.escalated',
  'channel.test',
  'ledger.checkpoint',
  'webauthn.create',
  'webauthn.get',
]

test('L3 every entry type that the program writes is declared by its module, and vice versa', () => {
  const declared = modules.flatMap(({ entries }) => Object.keys(entries))
  const places =
    /(?:\btype: |\bentry(?:Of)?\(\s*|\bcommit\(\s*|\b(?:opened|decided): )'([a-z_]+\.[a-z_]+)'/g
  const written = [...source.matchAll(places)].map(([, type = '']) => type)
  expect(written.length).toBeGreaterThan(40)
  expect(written.filter((type) => !declared.includes(type) && !others.includes(type))).toEqual([])
  expect(declared.filter((type) => !source.includes(`'${type}'`))).toEqual([])
})

test('RM4 docs/operating.md lists exactly the settings and variables without effect', () => {
  const page = readFileSync('docs/operating.md', 'utf8')
  const [, text = ''] = /have no effect in this version: ([^]+?)\. Start and/.exec(page) ?? []
  const documented = [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const listed = Object.keys(settingsWithoutEffect)
  const fits = (key: string, name: string) =>
    name.endsWith('.*') ? key.startsWith(name.slice(0, -1)) : key === name
  expect(listed.filter((key) => !documented.some((name) => fits(key, name)))).toEqual([])
  expect(documented.filter((name) => !listed.some((key) => fits(key, name)))).toEqual([])
})
