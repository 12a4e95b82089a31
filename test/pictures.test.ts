import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'

const folder = 'docs/images'

test('C15 the README shows exactly the pictures that npm run screenshots creates', () => {
  const screens = [
    'access',
    'agents',
    'audit',
    'checks',
    'entry',
    'files',
    'handoff',
    'inbox',
    'policies',
    'settings',
    'welcome',
    'work',
  ]
  const names = screens.flatMap((name) => [`${name}-dark.png`, `${name}-light.png`])
  expect(readdirSync(folder).toSorted()).toEqual(names)
  for (const name of names) {
    const png = readFileSync(`${folder}/${name}`)
    expect([png.readUInt32BE(16), png.readUInt32BE(20)], name).toEqual([1440, 860])
    expect(png.length, name).toBeLessThan(300_000)
  }
  const shown = globSync(['README.md', 'docs/*.md']).flatMap((page) => {
    const text = readFileSync(page, 'utf8')
    return [...text.matchAll(/(?:src(?:set)?="|!\[[^\]]*\]\()([^")]+)/g)].map(
      ([, path = '']) => path,
    )
  })
  expect(shown.length).toBeGreaterThan(0)
  for (const path of shown) expect(names, path).toContain(basename(path))
})
