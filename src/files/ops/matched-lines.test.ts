import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchTexts, matchLines } from './matched-lines.ts'

const findMatch = (line: string) => line.indexOf('x')

test('S3 numbers matching lines from 1, with any line endings', () => {
  const text = 'x\r\n\r\nno\n x\n\nx'
  expect(matchLines({ text, after: 0 }, 9, findMatch)).toEqual({
    count: 3,
    lines: [
      { line: 1, snippet: 'x' },
      { line: 4, snippet: 'x' },
      { line: 6, snippet: 'x' },
    ],
  })
})

test('S3 counts all matching lines and returns at most the limit', () => {
  const text = fc
    .array(fc.constantFrom('x', 'no', ''), { maxLength: 20 })
    .map((of) => of.join('\n'))
  const texts = fc.array(fc.record({ text, after: fc.nat(20) }), { maxLength: 6 })
  fc.assert(
    fc.property(texts, fc.nat(10), (given, most) => {
      const found = matchTexts(given, most, (one, left) => matchLines(one, left, findMatch))
      const whole = given.map(({ text: of }) =>
        of.split('\n').flatMap((line, at) => (line === 'x' ? [at + 1] : [])),
      )
      expect(found.map(({ count }) => count)).toEqual(whole.map(({ length }) => length))
      const wanted = whole.flatMap((lines, at) =>
        lines.filter((line) => line > (given[at]?.after ?? 0)).map((line) => `${at}:${line}`),
      )
      const kept = found.flatMap(({ lines }, at) => lines.map(({ line }) => `${at}:${line}`))
      expect(kept).toEqual(wanted.slice(0, most))
    }),
  )
})
