import { priorities, statuses } from './work.ts'
import type { Card, Priority, Sprint, Status } from './work.ts'

export type Column = { readonly status: Status; readonly cards: readonly Card[] }

/** Returns the rank as the daemon does; no priority counts as medium. */
export const priorityRank = (priority: Priority | undefined): number =>
  priorities.indexOf(priority ?? 'medium')

export const isOpen = ({ status }: { readonly status: string }): boolean =>
  status !== 'done' && status !== 'dropped'

/** Builds a column for each status, ordered by priority, then by file order. */
export const buildColumns = (cards: readonly Card[]): Column[] =>
  statuses.map((status) => ({
    status,
    cards: cards
      .filter((card) => card.status === status)
      .toSorted((a, b) => priorityRank(a.priority) - priorityRank(b.priority)),
  }))

export type Direction = 'up' | 'down' | 'left' | 'right'

/** Finds the adjacent card; left and right skip empty columns. */
export function adjacentCard(
  columns: readonly Column[],
  id: string | undefined,
  direction: Direction,
): string | undefined {
  const filled = columns.filter(({ cards }) => cards.length > 0)
  const at = filled.findIndex(({ cards }) => cards.some((card) => card.id === id))
  const row = filled[at]?.cards.findIndex((card) => card.id === id) ?? -1
  if (row === -1) return filled[0]?.cards[0]?.id
  if (direction === 'up' || direction === 'down')
    return filled[at]?.cards[row + (direction === 'down' ? 1 : -1)]?.id
  const adjacentColumn = filled[at + (direction === 'right' ? 1 : -1)]?.cards
  return adjacentColumn?.[Math.min(row, adjacentColumn.length - 1)]?.id
}

export const adjacentStatus = (status: Status, direction: Direction): Status =>
  statuses[statuses.indexOf(status) + (direction === 'right' ? 1 : -1)] ?? status

/** Lists the open dependencies on the same board. */
export const openDependencies = (
  { depends_on: needs = [] }: Card,
  cards: readonly Card[],
): string[] => needs.filter((id) => cards.some((card) => card.id === id && isOpen(card)))

export function getProgress(cards: readonly Card[]): { done: number; of: number } {
  const counted = cards.filter(({ status }) => status !== 'dropped')
  return { done: counted.filter(({ status }) => status === 'done').length, of: counted.length }
}

/** Returns the requested sprint, else the active, planned or last one. */
export const selectSprint = (
  sprints: readonly Sprint[],
  asked: string | undefined,
): Sprint | undefined =>
  sprints.find(({ id }) => id === asked) ??
  sprints.find(({ status }) => status === 'active') ??
  sprints.find(({ status }) => status === 'planned') ??
  sprints.at(-1)

export const openSprints = (sprints: readonly Sprint[]): Sprint[] =>
  sprints.filter(({ status }) => status === 'active' || status === 'planned')

/** Applies an optimistic change and the confirmed one. */
export const replaceCard = (
  cards: readonly Card[],
  id: string,
  change: Partial<Pick<Card, 'status' | 'rev'>>,
): Card[] => cards.map((card) => (card.id === id ? { ...card, ...change } : card))
