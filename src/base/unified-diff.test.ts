import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from './unified-diff.ts'
import type { DiffLimits } from './unified-diff.ts'

const diff = (from: string, to: string) =>
  unifiedDiff({ name: 'old', text: from }, { name: 'new', text: to })

/** Applies a diff like `patch`: the unchanged and the added lines at the given positions. */
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

test('Y6 applying a diff to the old text gives the new text', () => {
  fc.assert(
    fc.property(text, text, (from, to) => {
      const patch = diff(from, to)
      if (from === to) expect(patch).toBe('')
      else expect(patched(from, patch).join('\n')).toBe(to)
    }),
  )
})

test('Y6 a diff shows changes with context only', () => {
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

test('Y6 texts without common lines are compared in bounded time', () => {
  const from = Array.from({ length: 20_000 }, (_, at) => `old ${at}`).join('\n')
  const to = Array.from({ length: 20_000 }, (_, at) => `new ${at}`).join('\n')
  const patch = diff(from, to)
  expect(patch.split('\n')).toHaveLength(2 + 1 + 40_000)
  expect(patched(from, patch).join('\n')).toBe(to)
})

test('Y6 a diff of a long text omits unchanged parts and has correct line numbers', () => {
  fc.assert(
    fc.property(
      text,
      text,
      fc.nat(30),
      fc.nat(30),
      fc.boolean(),
      (from, to, before, after, ends) => {
        const whole = (middle: string) =>
          ['same\n'.repeat(before), middle, '\n', 'after\n'.repeat(after), ends ? '\n' : ''].join(
            '',
          )
        const patch = diff(whole(from), whole(to))
        const lines = whole(to).replace(/\n$/, '')
        if (from === to) expect(patch).toBe('')
        else expect(patched(whole(from).replace(/\n$/, ''), patch).join('\n')).toBe(lines)
        expect(patch.split('\n').filter((line) => line === ' same').length).toBeLessThanOrEqual(3)
      },
    ),
  )
})

test('Y6 the cost of a diff depends on the difference and not on its product with the length', () => {
  const lines = Array.from({ length: 600_000 }, (_, at) => `l${at % 97}`)
  const changed = lines.map((line, at) => (at % 4500 === 99 ? `changed ${at}` : line))
  const patch = diff(lines.join('\n'), changed.join('\n'))
  expect(patch.match(/^@@ /gm)).toHaveLength(134)
  expect(patched(lines.join('\n'), patch)).toEqual(changed)
})

test('Y6 a diff is truncated at maxShown and undefined beyond maxCompared', () => {
  const limited = (from: string, to: string, limits: DiffLimits) =>
    unifiedDiff({ name: 'old', text: from }, { name: 'new', text: to }, limits)
  const long = 'x'.repeat(10_000)
  expect(limited(long, `${long}!`, { maxShown: 100 })).toBe(
    `--- old\n+++ new\n@@ -1,1 +1,1 @@\n-${'x'.repeat(83)}`,
  )
  expect(limited('a\n'.repeat(500), 'b\n'.repeat(500), { maxShown: 100 })).toHaveLength(116)
  expect(limited(long, `${long}!`, { maxCompared: 20_000 })).toBeUndefined()
  // Only the differing part counts.
  const around = (text: string) => `${'same\n'.repeat(9_000)}${text}\n${'same\n'.repeat(9_000)}`
  expect(limited(around('a'), around('b'), { maxCompared: 100 })).toContain('\n-a\n+b\n')
})
