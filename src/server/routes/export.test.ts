import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeCsvCell } from './export.ts'

test.each([
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"'],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM', "'@SUM"],
  ['\tx', "'\tx"],
  [7, '7'],
  [undefined, ''],
])('C8 the cell %j is written as %s', (cell, written) => {
  expect(escapeCsvCell(cell)).toBe(written)
})

/** Parses CSV according to RFC 4180. */
function unquoted(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
}

test('C8 any cell stays one cell and never starts a formula', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('a', ',', '"', '\r', '\n', '=', '+', '-', '@', '\t', "'"),
      }),
      (text) => {
        const written = escapeCsvCell(text)
        expect(written).toMatch(/^("([^"]|"")*"|[^",\r\n]*)$/)
        const read = unquoted(written)
        expect(read).not.toMatch(/^[=+\-@\t\r]/)
        expect([text, `'${text}`]).toContain(read)
      },
    ),
  )
})
