import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { confirm, diffLines } from './terminal.ts'

test('K2 without a terminal nothing is asked: the flag that answers is named', async () => {
  await expect(confirm('Go on?', {})).rejects.toMatchObject({
    code: 'usage',
    hint: 'Add --yes to answer so.',
  })
  await expect(confirm('Go on?', { json: true })).rejects.toMatchObject({ code: 'usage' })
  await expect(confirm('Go on?', { yes: true })).resolves.toBeUndefined()
})

test('K4 a change is shown by its own lines, without control characters', () => {
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
