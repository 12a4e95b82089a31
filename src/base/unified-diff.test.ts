import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from './unified-diff.ts'

const diff = (from: string, to: string) =>
  unifiedDiff({ name: 'old', text: from }, { name: 'new', text: to })

/** What `patch` would make of it: the lines that stay and those put in, at the places it names. */
function patched(text: string, patch: string): string[] {
  const source = text === '' ? [] : text.split('\n')
  const made: string[] = []
  let at = 0
  for (const line of patch.split('\n').slice(2)) {
    const [, start, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? []
    if (start !== undefined) {
      const from = Number(count) === 0 ? Number(start) : Number(start) - 1
      made.push(...source.slice(at, from))
      at = from
    } else if (line.startsWith('+')) made.push(line.slice(1))
    else {
      expect(source[at]).toBe(line.slice(1))
      if (line.startsWith(' ')) made.push(line.slice(1))
      at++
    }
  }
  return [...made, ...source.slice(at)]
}

const word = fc.constantFrom('a', 'b', 'c', 'd')
const text = fc.array(word, { maxLength: 40 }).map((lines) => lines.join('\n'))

test('Y6 what a diff says makes the new text of the old one', () => {
  fc.assert(
    fc.property(text, text, (from, to) => {
      const patch = diff(from, to)
      if (from === to) expect(patch).toBe('')
      else expect(patched(from, patch).join('\n')).toBe(to)
    }),
  )
})

test('Y6 a diff shows where a change is and nothing far from it', () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
  const changed = lines.with(9, 'another')
  expect(diff(lines.join('\n'), changed.join('\n'))).toBe(
    [
      '--- old',
      '+++ new',
      '@@ -7,7 +7,7 @@',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+another',
      ' line 11',
      ' line 12',
      ' line 13',
    ].join('\n'),
  )
})

test('Y6 texts with nothing in common are told apart without being compared for ever', () => {
  const from = Array.from({ length: 20_000 }, (_, at) => `old ${at}`).join('\n')
  const to = Array.from({ length: 20_000 }, (_, at) => `new ${at}`).join('\n')
  const patch = diff(from, to)
  expect(patch.split('\n')).toHaveLength(2 + 1 + 40_000)
  expect(patched(from, patch).join('\n')).toBe(to)
})
