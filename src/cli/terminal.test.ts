import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { confirm, diffLines } from './terminal.ts'

test('K2 without a terminal there is no prompt: the error names --yes', async () => {
  await expect(confirm('Continue?', {})).rejects.toMatchObject({
    code: 'usage',
    hint: 'Add --yes to confirm.',
  })
  await expect(confirm('Continue?', { json: true })).rejects.toMatchObject({ code: 'usage' })
  await expect(confirm('Continue?', { yes: true })).resolves.toBeUndefined()
})

test('K4 shows only the changed lines, without control characters', () => {
  const hunk = { line: 3, removed: 'old\u001b[2J', inserted: '\n\t"a": 1,\r\n\t"b": 2\n  ' }
  expect(diffLines('/home/a/x.json', [hunk]).map(plain)).toEqual([
    '/home/a/x.json',
    '@@ line 3 @@',
    '- old\u{FFFD}[2J',
    '+   "a": 1,',
    '+   "b": 2',
  ])
})

const plain = stripVTControlCharacters
