import { expect, test } from 'vitest'
import { conflict, sprint } from './work.fixture.ts'
import { describeConflict, formatLease, sprintLabel, sprintTitle, formatValue } from './text.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()

test.each([
  [-1, 'ran out'],
  [0, 'ran out'],
  [5, '0:05 left'],
  [252, '4:12 left'],
  [3599, '59:59 left'],
  [3600, '1 h left'],
  [9000, '2 h left'],
])('C6 a claim that ends in %d s reads “%s”', (seconds, text) => {
  expect(formatLease(at(seconds), now)).toBe(text)
})

test('W5 the same field twice: both values are shown, what stands first', () => {
  const words = describeConflict(conflict({ ours: ['a', 'b'], copy: '.cowork/conflicts/1.yaml' }))
  expect(words.title).toBe('title was changed twice')
  expect(words.says).toContain('.cowork/conflicts/1.yaml')
  expect(words.sides).toEqual([
    { take: 'ours', label: 'Keep what stands', says: 'a\nb' },
    { take: 'theirs', label: 'Take what the file said', says: 'nothing' },
  ])
})

test('W5 where one side removed it, keeping and removing are on the side that did so', () => {
  const edited = conflict({ kind: 'delete_against_edit', field: '*' })
  const takes = (sides: readonly { take: string; label: string }[]) =>
    sides.map(({ take, label }) => `${label}: ${take}`)
  const byFile = describeConflict({ ...edited, ours: { id: 'x' } })
  expect(takes(byFile.sides)).toEqual(['Keep it: ours', 'Remove it: theirs'])
  expect(byFile.says).toContain('deleted in the file')
  const byTool = describeConflict({ ...edited, theirs: { id: 'x' } })
  expect(takes(byTool.sides)).toEqual(['Keep it: theirs', 'Remove it: ours'])
  expect(byTool.says).toContain('A tool removed it')
})

test('W5 an old version of the file can only be left aside', () => {
  const { sides } = describeConflict(conflict({ kind: 'possible_revert', item: '*', field: '*' }))
  expect(sides.map(({ take }) => take)).toEqual(['ours'])
})

test('C6 values of any kind are text', () => {
  expect(formatValue(3)).toBe('3')
  expect(formatValue([])).toBe('nothing')
  expect(formatValue([{ text: 'x', done: true }])).toBe('{"text":"x","done":true}')
  expect(sprintTitle({ id: 'one', title: null })).toBe('one')
})

test('C6 sprints of the same title are told apart by their ids', () => {
  const [a, b] = [sprint({ id: 'a', title: 'Next' }), sprint({ id: 'b', title: 'Next' })]
  expect(sprintLabel(a, [a, b])).toBe('Next (a)')
  expect(sprintLabel(a, [a, sprint({ id: 'b' })])).toBe('Next')
})
