import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Change, Story, WorkIndex } from '../model.ts'
import { findMergeBase } from './merge-base.ts'
import { isEqualValue, mergeLists, canonicalKey } from './lists.ts'
import { changedFields, mergeThreeWay } from './merge.ts'

const story = (id: string, more: Partial<Story> = {}): Story => ({ id, status: 'planned', ...more })

const indexOf = (stories: readonly Story[], more: Partial<WorkIndex> = {}): WorkIndex => ({
  version: 2,
  sprints: [{ id: 'one', status: 'active', stories }],
  backlog: [],
  history: [],
  conflicts: [],
  ...more,
})

const storiesOf = (index: WorkIndex) => index.sprints.flatMap(({ stories }) => stories ?? [])

test('W5 changes of different fields are kept from both sides', () => {
  const base = indexOf([story('a'), story('b')])
  const { merged, mergeConflicts } = mergeThreeWay({
    base,
    ours: indexOf([story('a', { status: 'done' }), story('b')]),
    theirs: indexOf([story('a', { title: 'Named' }), story('b', { priority: 'high' })]),
  })
  expect(storiesOf(merged)).toEqual([
    story('a', { status: 'done', title: 'Named' }),
    story('b', { priority: 'high' }),
  ])
  expect(mergeConflicts).toEqual([])
})

test('W5 in the same field the acknowledged value stays and the other becomes a conflict', () => {
  const { merged, mergeConflicts } = mergeThreeWay({
    base: indexOf([story('a', { notes: 'x' })]),
    ours: indexOf([story('a', { notes: 'agent' })]),
    theirs: indexOf([story('a', { notes: 'person' })]),
  })
  expect(storiesOf(merged)[0]?.notes).toBe('agent')
  expect(mergeConflicts).toEqual([
    {
      item: 'a',
      of: 'story',
      field: 'notes',
      kind: 'same_field',
      base: 'x',
      ours: 'agent',
      theirs: 'person',
    },
  ])
})

test('W5 lists keep additions of both sides and drop removals of either', () => {
  expect(mergeLists(['a', 'b', 'c'], ['b', 'c', 'x'], ['a', 'b', 'y'])).toEqual(['b', 'y', 'x'])
  expect(
    mergeLists([{ text: 'a' }], [{ text: 'a', done: true }], [{ text: 'a' }, { text: 'b' }]),
  ).toEqual([{ text: 'a', done: true }, { text: 'b' }])
})

test('W5 an edit wins over a deletion, which becomes a conflict', () => {
  const base = indexOf([story('a'), story('b')])
  const edited = indexOf([story('a', { status: 'done' }), story('b')])
  const deleted = indexOf([story('b')])
  for (const [ours, theirs] of [
    [edited, deleted],
    [deleted, edited],
  ] as const) {
    const { merged, mergeConflicts } = mergeThreeWay({ base, ours, theirs })
    expect(storiesOf(merged).map(({ id }) => id)).toContain('a')
    expect(mergeConflicts).toMatchObject([{ item: 'a', field: '*', kind: 'delete_against_edit' }])
  }
})

test('W5 a deleted sprint stays as long as one of its stories stays', () => {
  const { merged, mergeConflicts } = mergeThreeWay({
    base: indexOf([story('a')]),
    ours: indexOf([story('a'), story('new')]),
    theirs: indexOf([], { sprints: [] }),
  })
  expect(merged.sprints[0]).toMatchObject({ id: 'one', stories: [{ id: 'new' }] })
  expect(mergeConflicts.map(({ item }) => item)).toEqual(['one'])
})

const field = fc.constantFrom('title', 'notes', 'status', 'x_a')
const edits = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), field, fc.constantFrom('1', '2')), {
  maxLength: 6,
})
const edited = (
  index: WorkIndex,
  list: readonly (readonly [string, string, string])[],
): WorkIndex =>
  list.reduce(
    (now, [id, name, value]) =>
      indexOf(storiesOf(now).map((one) => (one.id === id ? { ...one, [name]: value } : one))),
    index,
  )
const start = indexOf([story('a'), story('b'), story('c')])

test('W5 every edit is in its field or in a conflict', () => {
  fc.assert(
    fc.property(edits, edits, (mine, yours) => {
      const [ours, theirs] = [edited(start, mine), edited(start, yours)]
      const { merged, mergeConflicts } = mergeThreeWay({ base: start, ours, theirs })
      for (const [at, one] of storiesOf(merged).entries()) {
        const [o, t, b] = [ours, theirs, start].map((side) => storiesOf(side)[at] as Story)
        for (const name of ['title', 'notes', 'status', 'x_a']) {
          const isOurs = o?.[name] !== b?.[name]
          const isTheirs = t?.[name] !== b?.[name]
          if (isOurs) expect(one[name]).toBe(o?.[name])
          else if (isTheirs) expect(one[name]).toBe(t?.[name])
          const isClash = isOurs && isTheirs && o?.[name] !== t?.[name]
          expect(mergeConflicts.some(({ item, field: f }) => item === one.id && f === name)).toBe(
            isClash,
          )
        }
      }
    }),
  )
})

test('W5 an unchanged side gets the other side, and merging again changes nothing', () => {
  fc.assert(
    fc.property(edits, edits, (mine, yours) => {
      const [ours, theirs] = [edited(start, mine), edited(start, yours)]
      expect(mergeThreeWay({ base: start, ours: start, theirs }).merged).toEqual(theirs)
      expect(mergeThreeWay({ base: start, ours, theirs: start }).merged).toEqual(ours)
      const { merged } = mergeThreeWay({ base: start, ours, theirs })
      expect(mergeThreeWay({ base: theirs, ours: merged, theirs }).merged).toEqual(merged)
    }),
  )
})

/** Builds the journal of consecutive edits. */
function journal(list: readonly (readonly [string, string, string])[]) {
  const versions = [start]
  const changes: Change[] = []
  for (const [seq, edit] of list.entries()) {
    const before = versions.at(-1) as WorkIndex
    const after = edited(before, [edit])
    const at = storiesOf(before).findIndex(({ id }) => id === edit[0])
    const fields = changedFields(storiesOf(before)[at] ?? {}, storiesOf(after)[at] ?? {})
    changes.unshift({
      seq: seq + 1,
      project: 'p',
      kind: 'story',
      id: edit[0],
      op: 'set',
      fields,
      sprint: 'one',
      at: 0,
      by: 'agent',
    })
    versions.push(after)
  }
  return { versions, changes }
}

test('W5 an old version that is saved again is found in the journal', () => {
  fc.assert(
    fc.property(edits, fc.nat(), (list, which) => {
      const { versions, changes } = journal(list)
      const now = versions.at(-1) as WorkIndex
      const old = versions[which % versions.length] as WorkIndex
      const found = findMergeBase(now, changes, old)
      expect(found.distance).toBe(0)
      expect(found.index).toEqual(old)
    }),
  )
})

test('W5 an edit of an old version reverts no later change', () => {
  fc.assert(
    fc.property(edits, fc.nat(), (list, which) => {
      const { versions, changes } = journal(list)
      const now = versions.at(-1) as WorkIndex
      const old = versions[which % versions.length] as WorkIndex
      const theirs = edited(old, [['b', 'x_mine', 'person']])
      const { index: base } = findMergeBase(now, changes, theirs)
      const { merged } = mergeThreeWay({ base, ours: now, theirs })
      expect(merged).toEqual(edited(now, [['b', 'x_mine', 'person']]))
    }),
  )
})

test('W5 deleting an item does not delete a change the person may not have seen', () => {
  const { versions, changes } = journal([['a', 'title', '1']])
  const [before, now] = versions as [WorkIndex, WorkIndex]
  const theirs = indexOf(storiesOf(before).filter(({ id }) => id !== 'a'))
  const { index: base } = findMergeBase(now, changes, theirs)
  const { merged, mergeConflicts } = mergeThreeWay({ base, ours: now, theirs })
  expect(storiesOf(merged)).toContainEqual(story('a', { title: '1' }))
  expect(mergeConflicts).toMatchObject([{ item: 'a', field: '*', kind: 'delete_against_edit' }])
})

test('W5 changing the same field twice is not a conflict', () => {
  const { versions, changes } = journal([['a', 'notes', 'first']])
  const theirs = indexOf([story('a', { notes: 'second' }), story('b'), story('c')])
  const byHand = changes.map((change) => ({ ...change, external: true as const }))
  const now = versions.at(-1) as WorkIndex
  const { index: base } = findMergeBase(now, byHand, theirs)
  const { merged, mergeConflicts } = mergeThreeWay({ base, ours: now, theirs })
  expect(storiesOf(merged)[0]?.notes).toBe('second')
  expect(mergeConflicts).toEqual([])
})

test('W5 continuing from the last saved text reverts nothing', () => {
  fc.assert(
    fc.property(edits, fc.nat({ max: 8 }), (list, saves) => {
      const { versions, changes } = journal(list)
      const now = versions.at(-1) as WorkIndex
      const mine = (count: number) =>
        Array.from({ length: count }, (_, n) => ['b', `x_${n}`, 'person'] as const)
      // All edits were imported on top of other changes; only the last one is new.
      const ours = edited(now, mine(saves))
      const last = { index: edited(start, mine(saves)), seq: list.length }
      const theirs = edited(start, mine(saves + 1))
      const { index: base } = findMergeBase(ours, changes, theirs, { seen: [last] })
      const { merged, mergeConflicts } = mergeThreeWay({ base, ours, theirs })
      expect(merged).toEqual(edited(now, mine(saves + 1)))
      expect(mergeConflicts).toEqual([])
    }),
  )
})

test('W5 a duplicate history entry stays duplicated', () => {
  const entry = { date: '2026-01-01', summary: 'Deployed' }
  const twice = indexOf([story('a')], { history: [entry, entry] })
  const { merged } = mergeThreeWay({
    base: twice,
    ours: twice,
    theirs: indexOf([story('a', { title: 'x' })], { history: [entry, entry, entry] }),
  })
  expect(merged.history).toHaveLength(3)
})

test('W5 values are equal if they serialize equally', () => {
  const value = fc.anything({
    values: [fc.constantFrom(0, 1, 'a', '', null, undefined, true, NaN)],
    maxDepth: 2,
    maxKeys: 2,
  })
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(isEqualValue(a, b)).toBe(canonicalKey(a) === canonicalKey(b))
      expect(isEqualValue(a, structuredClone(a))).toBe(true)
    }),
    { numRuns: 1000 },
  )
})
