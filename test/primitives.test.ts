import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'governance.md'), 'utf8')
const rows = page.matchAll(/^\| (\d+) +\| ([^|]+?) +\| ([^|]+?) +\| ([^|]+?) +\|$/gm)
const primitives = Array.from(rows, ([, number, name, served, title]) => ({
  number: Number(number),
  name,
  served,
  title: title ?? '',
}))

const sources = ['src', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, folder, file), 'utf8')),
)

test('G3 the table of primitives has 38 rows, none twice', () => {
  expect(primitives.map(({ number }) => number)).toEqual(
    Array.from({ length: 38 }, (_, i) => i + 1),
  )
  expect(new Set(primitives.map(({ name }) => name)).size).toBe(38)
})

test.each(primitives)('G3 primitive $number, $name, has the test that is named', ({ title }) => {
  expect(sources.some((source) => source.includes(title))).toBe(true)
})
