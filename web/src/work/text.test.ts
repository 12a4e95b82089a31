import { expect, test } from 'vitest'
import { conflict, sprint } from './work.fixture.ts'
import { describeConflict, formatLease, sprintLabel, sprintTitle, formatValue } from './text.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()

test.each([
  [-1, 'expired'],
  [0, 'expired'],
  [5, '0:05 left'],
  [252, '4:12 left'],
  [3599, '59:59 left'],
  [3600, '1 h left'],
  [9000, '2 h left'],
])('C6 a claim that expires in %d s shows “%s”', (seconds, text) => {
  expect(formatLease(at(seconds), now)).toBe(text)
})

test('W5 a field conflict shows both values, the current one first', () => {
  const words = describeConflict(conflict({ ours: ['a', 'b'], copy: '.cowork/conflicts/1.yaml' }))
  expect(words.title).toBe('title changed by both sides')
  expect(words.says).toContain('.cowork/conflicts/1.yaml')
  expect(words.sides).toEqual([
    { take: 'ours', label: 'Keep current', says: 'a\nb' },
    { take: 'theirs', label: 'Use file version', says: 'nothing' },
  ])
})

test('W5 after a deletion the choices map to the side that deleted', () => {
  const edited = conflict({ kind: 'delete_against_edit', field: '*' })
  const takes = (sides: readonly { take: string; label: string }[]) =>
    sides.map(({ take, label }) => `${label}: ${take}`)
  const byFile = describeConflict({ ...edited, ours: { id: 'x' } })
  expect(takes(byFile.sides)).toEqual(['Keep item: ours', 'Remove item: theirs'])
  expect(byFile.says).toContain('deleted in the file')
  const byTool = describeConflict({ ...edited, theirs: { id: 'x' } })
  expect(takes(byTool.sides)).toEqual(['Keep item: theirs', 'Remove item: ours'])
  expect(byTool.says).toContain('A tool deleted the item')
})

test('W5 a possible revert can only be dismissed', () => {
  const { sides } = describeConflict(conflict({ kind: 'possible_revert', item: '*', field: '*' }))
  expect(sides.map(({ take }) => take)).toEqual(['ours'])
})

test('C6 values of any type are formatted as text', () => {
  expect(formatValue(3)).toBe('3')
  expect(formatValue([])).toBe('nothing')
  expect(formatValue([{ text: 'x', done: true }])).toBe('{"text":"x","done":true}')
  expect(sprintTitle({ id: 'one', title: null })).toBe('one')
})

test('C6 sprints with the same title show their ids', () => {
  const [a, b] = [sprint({ id: 'a', title: 'Next' }), sprint({ id: 'b', title: 'Next' })]
  expect(sprintLabel(a, [a, b])).toBe('Next (a)')
  expect(sprintLabel(a, [a, sprint({ id: 'b' })])).toBe('Next')
})
