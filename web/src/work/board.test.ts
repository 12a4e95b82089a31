import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  adjacentCard,
  buildColumns,
  openSprints,
  getProgress,
  selectSprint,
  adjacentStatus,
  openDependencies,
  replaceCard,
} from './board.ts'
import { card, sprint } from './work.fixture.ts'
import { priorities, statuses } from './work.ts'

const cards = fc.uniqueArray(
  fc
    .record({
      id: fc.integer({ min: 1, max: 40 }).map((n) => `STORY-${n}`),
      status: fc.constantFrom(...statuses),
      priority: fc.constantFrom(...priorities),
    })
    .map(card),
  { selector: ({ id }) => id },
)

test('C6 every story is in the column of its status, ordered by priority', () => {
  fc.assert(
    fc.property(cards, (given) => {
      const columns = buildColumns(given)
      expect(columns.map(({ status }) => status)).toEqual(statuses)
      expect(columns.flatMap((column) => column.cards).length).toBe(given.length)
      for (const column of columns) {
        expect(column.cards.every(({ status }) => status === column.status)).toBe(true)
        const ranks = column.cards.map(({ priority }) => priorities.indexOf(priority ?? 'medium'))
        expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
      }
    }),
  )
})

test('C6 stories of equal priority keep the file order; no priority counts as medium', () => {
  const [column] = buildColumns([
    card({ id: 'a', priority: 'low' }),
    card({ id: 'b' }),
    card({ id: 'c', priority: 'medium' }),
    card({ id: 'd', priority: 'high' }),
  ])
  expect(column?.cards.map(({ id }) => id)).toEqual(['d', 'b', 'c', 'a'])
})

test('C11 the arrow keys reach every card and never leave the board', () => {
  fc.assert(
    fc.property(cards, (given) => {
      const columns = buildColumns(given)
      const first = adjacentCard(columns, undefined, 'down')
      const seen = new Set<string>()
      const walk = (id: string | undefined): void => {
        if (id === undefined || seen.has(id)) return
        seen.add(id)
        for (const way of ['up', 'down', 'left', 'right'] as const)
          walk(adjacentCard(columns, id, way))
      }
      walk(first)
      expect(seen).toEqual(new Set(given.map(({ id }) => id)))
    }),
  )
})

test('C11 left and right skip empty columns and keep the row if possible', () => {
  const columns = buildColumns([
    card({ id: 'a' }),
    card({ id: 'b' }),
    card({ id: 'c', status: 'in_review' }),
  ])
  expect(adjacentCard(columns, 'b', 'right')).toBe('c')
  expect(adjacentCard(columns, 'c', 'left')).toBe('a')
  expect(adjacentCard(columns, 'c', 'right')).toBeUndefined()
  expect(adjacentStatus('planned', 'left')).toBe('planned')
  expect(adjacentStatus('planned', 'right')).toBe('in_progress')
  expect(adjacentStatus('dropped', 'right')).toBe('dropped')
})

test('C6 a card lists its open dependencies', () => {
  const on = card({ id: 'c', depends_on: ['a', 'b', 'elsewhere'] })
  const board = [card({ id: 'a', status: 'done' }), card({ id: 'b', status: 'blocked' }), on]
  expect(openDependencies(on, board)).toEqual(['b'])
})

test('C6 dropped stories do not count in the progress', () => {
  const board = (['done', 'done', 'planned', 'dropped'] as const).map((status) => card({ status }))
  expect(getProgress(board)).toEqual({ done: 2, of: 3 })
})

test('C6 the sprint in the URL is shown, else the active, planned or last one', () => {
  const old = sprint({ id: 'old', status: 'completed' })
  const [next, now] = [sprint({ id: 'next', status: 'planned' }), sprint({ id: 'now' })]
  expect(selectSprint([old, next, now], 'old')?.id).toBe('old')
  expect(selectSprint([old, next, now], 'gone')?.id).toBe('now')
  expect(selectSprint([old, next], undefined)?.id).toBe('next')
  expect(selectSprint([old], undefined)?.id).toBe('old')
  expect(selectSprint([], undefined)).toBeUndefined()
  expect(openSprints([old, next, now]).map(({ id }) => id)).toEqual(['next', 'now'])
})

test('C6 replacing a card changes it immediately and no other card', () => {
  const board = [card({ id: 'a' }), card({ id: 'b' })]
  expect(replaceCard(board, 'b', { status: 'done', rev: 2 })).toEqual([
    card({ id: 'a' }),
    card({ id: 'b', status: 'done', rev: 2 }),
  ])
})
