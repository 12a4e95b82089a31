import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  benchIds,
  doneIds,
  leadingIds,
  parseRules,
  shortIds,
  specReport,
  testIds,
} from './spec-rules.ts'

const ids = (source: string) => testIds('x.test.ts', source)

test('spec: rules are list items with a bold id, and rows of the targets table', () => {
  const pages = {
    'a.md': '# A\n- **SV1** Start.\n- **SV2** Stop, see **SV9**.\n  - **SV3** nested\ntext **SV4**',
    'numbers.md': '| id | what |\n|---|---|\n| N1 | a call |\n| SV | doors |',
  }
  expect(parseRules(pages)).toEqual([
    { id: 'SV1', page: 'a.md' },
    { id: 'SV2', page: 'a.md' },
    { id: 'N1', page: 'numbers.md' },
  ])
})

test('spec: refuses a duplicate id and names both pages', () => {
  expect(() => parseRules({ 'a.md': '- **L1** x', 'b.md': '- **L1** y' })).toThrow(
    /L1 .*a\.md.*b\.md/,
  )
})

test('spec: a test name starts with one id or several', () => {
  expect(leadingIds('L1 L2, SV10: nothing is lost')).toEqual(['L1', 'L2', 'SV10'])
  expect(leadingIds('the L1 rule')).toEqual([])
  expect(leadingIds('HTTP2 and L1')).toEqual([])
})

test('spec: reads back every id in front of a sentence', () => {
  const id = fc.stringMatching(/^[A-Z]{1,2}[0-9]{1,3}$/)
  fc.assert(
    fc.property(fc.array(id, { minLength: 1 }), (expected) => {
      expect(leadingIds(`${expected.join(' ')} a sentence`)).toEqual(expected)
    }),
  )
})

test.each([
  ["test('L4 a leaf', () => {})", ['L4']],
  ['test("L4 a leaf", async () => {})', ['L4']],
  ["it('L4 a leaf', { timeout: 9 }, function () {})", ['L4']],
  ['test(`L4 on ${engine}`, () => {})', ['L4']],
  ["test.each([['(', 1], [')', 2]])('L4 L5 takes %s', (a) => {})", ['L4', 'L5']],
  ["test.each`a | b\n${1} | ${2}`('L4 $a', () => {})", ['L4']],
  ["test.skipIf(noDisk)('L4 a leaf', () => {})", ['L4']],
  ["describe('ledger', () => { onBothEngines('L4 a leaf', async (store) => {}) })", ['L4']],
])('spec: %s proves its ids', (source, expected) => {
  expect(ids(source)).toEqual(expected)
})

test.each([
  "describe('L4 a leaf', () => {})",
  "test.skip('L4 a leaf', () => {})",
  "test.todo('L4 a leaf')",
  "describe.skip('ledger', () => { test('L4 a leaf', () => {}) })",
  "// test('L4 a leaf', () => {})",
  "expect('L4 a leaf').toBe(name)",
  "test('a leaf as L4 says', () => {})",
])('spec: %s proves nothing', (source) => {
  expect(ids(source)).toEqual([])
})

test('spec: tests after a skipped group count', () => {
  expect(ids("describe.skip('x', () => {})\ntest('L4 a leaf', () => {})")).toEqual(['L4'])
})

test('spec: a bench names its targets in its first comment line', () => {
  expect(benchIds('// N6 N7 durable appends a second\n// N8 is elsewhere\n')).toEqual(['N6', 'N7'])
  expect(benchIds("import x from 'y'\n")).toEqual([])
})

test('spec: done.txt has one id per line, and comments', () => {
  expect(doneIds('# finished\nSV1\n\nL4 # both engines\n')).toEqual(['SV1', 'L4'])
})

test('spec: a bench proves only a target', () => {
  const rules = ['L1', 'L2', 'N1', 'N2'].map((id) => ({ id, page: 'a.md' }))
  const report = specReport(
    rules,
    { tested: new Set(['L1', 'Z9']), benched: new Set(['L2', 'N1']), short: new Set() },
    new Set(['L1', 'L2', 'N1', 'N2', 'Z1']),
  )
  expect(report.pages).toEqual([{ page: 'a.md', rules: 4, done: 4, unproved: ['L2', 'N2'] }])
  expect(report.broken).toEqual(['L2', 'N2', 'Z1'])
  expect(report.unknown).toEqual(['Z9'])
})

test('spec: a test can have the id of a review finding', () => {
  const tested = new Set(['RS1', 'RM10', 'RX1'])
  const report = specReport([], { tested, benched: new Set(), short: new Set() }, new Set())
  expect(report.unknown).toEqual(['RX1'])
})

test('spec: RH16 a target that falls short is not proved, even if a test names it', () => {
  const rules = ['N1', 'N2', 'N3'].map((id) => ({ id, page: 'a.md' }))
  const short = shortIds(`| id | what | goal | result |
| --- | --- | --- | --- |
| N1 | a call | < 1 ms | pass |
| N1 | a call of 1 MB | < 2 ms | falls short |
| N2 | another | < 1 ms | pass |
| N3 | a third | < 1 ms | falls short |`)
  const named = new Set(['N1', 'N2'])
  const report = specReport(
    rules,
    { tested: new Set(['N3']), benched: named, short },
    new Set(['N1', 'N2', 'N3']),
  )
  expect(report.broken).toEqual(['N1', 'N3'])
})
