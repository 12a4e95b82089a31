import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../../src/base/unified-diff.ts'
import { diffLines, countChanges } from './diff.ts'

test('C4 a diff is split into lines without headers', () => {
  const diff = '--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-old\n+new\n@@ -9 +9 @@\n+--- more\n'
  const lines = diffLines(diff)
  expect(lines.map(({ sign, text }) => `${sign}${text}`)).toEqual([
    ' x',
    '−old',
    '+new',
    '@',
    '+--- more',
  ])
  expect(countChanges(lines)).toEqual({ more: 2, less: 1 })
  expect(diffLines('')).toEqual([])
})

test('C4 the diff lines reproduce the new text', () => {
  const text = fc
    .array(fc.constantFrom('a', '- b', '+c', '@@', '--- x', ''), { maxLength: 12 })
    .map((lines) => lines.map((line) => `${line}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(unifiedDiff({ name: 'a', text: before }, { name: 'b', text: after }))
      const { more, less } = countChanges(lines)
      const count = (given: string) => given.split('\n').length - 1
      expect(count(before) - less + more).toBe(count(after))
      expect(lines.length === 0).toBe(before === after)
    }),
  )
})
