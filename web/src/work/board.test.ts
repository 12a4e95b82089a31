import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cardFrom,
  columnsOf,
  openSprints,
  progressOf,
  sprintShown,
  statusFrom,
  waitsFor,
  withCard,
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

test('C6 every story is in one column, that of its status, the most urgent first', () => {
  fc.assert(
    fc.property(cards, (given) => {
      const columns = columnsOf(given)
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

test('C6 stories of one urgency stay in the order of the file; none means medium', () => {
  const [column] = columnsOf([
    card({ id: 'a', priority: 'low' }),
    card({ id: 'b' }),
    card({ id: 'c', priority: 'medium' }),
    card({ id: 'd', priority: 'high' }),
  ])
  expect(column?.cards.map(({ id }) => id)).toEqual(['d', 'b', 'c', 'a'])
})

test('C11 the arrow keys reach every card, and never lead off the board', () => {
  fc.assert(
    fc.property(cards, (given) => {
      const columns = columnsOf(given)
      const first = cardFrom(columns, undefined, 'down')
      const seen = new Set<string>()
      const walk = (id: string | undefined): void => {
        if (id === undefined || seen.has(id)) return
        seen.add(id)
        for (const way of ['up', 'down', 'left', 'right'] as const) walk(cardFrom(columns, id, way))
      }
      walk(first)
      expect(seen).toEqual(new Set(given.map(({ id }) => id)))
    }),
  )
})

test('C11 left and right go past empty columns and stay as low as they can', () => {
  const columns = columnsOf([
    card({ id: 'a' }),
    card({ id: 'b' }),
    card({ id: 'c', status: 'in_review' }),
  ])
  expect(cardFrom(columns, 'b', 'right')).toBe('c')
  expect(cardFrom(columns, 'c', 'left')).toBe('a')
  expect(cardFrom(columns, 'c', 'right')).toBeUndefined()
  expect(statusFrom('planned', 'left')).toBe('planned')
  expect(statusFrom('planned', 'right')).toBe('in_progress')
  expect(statusFrom('dropped', 'right')).toBe('dropped')
})

test('C6 a card says what it waits for, while that is open', () => {
  const on = card({ id: 'c', depends_on: ['a', 'b', 'elsewhere'] })
  const board = [card({ id: 'a', status: 'done' }), card({ id: 'b', status: 'blocked' }), on]
  expect(waitsFor(on, board)).toEqual(['b'])
})

test('C6 what was dropped counts neither as done nor as to do', () => {
  const board = (['done', 'done', 'planned', 'dropped'] as const).map((status) => card({ status }))
  expect(progressOf(board)).toEqual({ done: 2, of: 3 })
})

test('C6 the sprint in the address is shown, else the running one, the next one, the last one', () => {
  const old = sprint({ id: 'old', status: 'completed' })
  const [next, now] = [sprint({ id: 'next', status: 'planned' }), sprint({ id: 'now' })]
  expect(sprintShown([old, next, now], 'old')?.id).toBe('old')
  expect(sprintShown([old, next, now], 'gone')?.id).toBe('now')
  expect(sprintShown([old, next], undefined)?.id).toBe('next')
  expect(sprintShown([old], undefined)?.id).toBe('old')
  expect(sprintShown([], undefined)).toBeUndefined()
  expect(openSprints([old, next, now]).map(({ id }) => id)).toEqual(['next', 'now'])
})

test('C6 a card that was moved is elsewhere at once, and all others where they were', () => {
  const board = [card({ id: 'a' }), card({ id: 'b' })]
  expect(withCard(board, 'b', { status: 'done', rev: 2 })).toEqual([
    card({ id: 'a' }),
    card({ id: 'b', status: 'done', rev: 2 }),
  ])
})
