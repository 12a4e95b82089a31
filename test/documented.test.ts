import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const source = globSync('src/**/*.ts')
  .filter((file) => !/test\.ts$|contract\.ts$|fixture/.test(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

/** Of notices to channels and of browsers, which are no entries. */
const others = [
  'approval.decided',
  'approval.escalated',
  'channel.test',
  'webauthn.create',
  'webauthn.get',
]

test('L3 docs/ledger.md has every type of entry that the program writes, and no other', () => {
  const [, rows = ''] =
    /\n\| type .*\n((?:\|.*\n)+)/.exec(readFileSync('docs/ledger.md', 'utf8')) ?? []
  const told = [...rows.matchAll(/`([a-z]+\.[a-z_]+)`/g)].map(([, type = '']) => type)
  const places =
    /(?:\btype: |\bentry(?:Of)?\(\s*|\bcommit\(\s*|\b(?:opened|decided): )'([a-z]+\.[a-z_]+)'/g
  const written = [...source.matchAll(places)].map(([, type = '']) => type)
  expect(written.length).toBeGreaterThan(40)
  expect(written.filter((type) => !told.includes(type) && !others.includes(type))).toEqual([])
  expect(told.filter((type) => !source.includes(`'${type}'`))).toEqual([])
})

test('SV5 docs/operating.md calls a setting unused only while nothing reads it', () => {
  const [, text = ''] =
    /no effect in this version: ([^]+?)\. `storage/.exec(
      readFileSync('docs/operating.md', 'utf8'),
    ) ?? []
  const unused = [...text.matchAll(/\.(\w+)`/g)].map(([, key = '']) => key)
  expect(unused.length).toBeGreaterThan(8)
  const readers = globSync('src/**/*.ts')
    .filter((file) => !/^src\/base\/config|^src\/cli\/init|test\.ts$|fixture/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  expect(unused.filter((key) => new RegExp(`\\b${key}\\b`).test(readers))).toEqual([])
})
