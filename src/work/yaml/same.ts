import { load, YAMLException } from 'js-yaml'
import { isSame, wordsOf } from '../merge/lists.ts'
import type { WorkIndex } from '../model.ts'
import { isAlias, nodesOf } from './nodes.ts'
import { readIndex } from './read.ts'

type Row = Readonly<Record<string, unknown>>
type Rows = readonly Row[] | null | undefined

export function says(text: string, wanted: WorkIndex): boolean {
  const read = readIndex(text)
  return read.ok && isSamePlan(read.index, wanted)
}

/** Whether two plans say the same. Where items stand in their lists is for people to choose. */
export const isSamePlan = (one: WorkIndex, other: WorkIndex): boolean =>
  one.version === other.version &&
  (other.next_story === undefined || one.next_story === other.next_story) &&
  areSame(one.sprints, other.sprints) &&
  areSame(one.backlog, other.backlog) &&
  areSame(one.conflicts, other.conflicts) &&
  isSame(one.history.map(wordsOf).toSorted(), other.history.map(wordsOf).toSorted())

/**
 * Whether the lines of one item say this, read by themselves. Lines with an alias mean something in their
 * text only: that is looked at as a whole.
 */
export function saysItem(lines: string, wanted: Row): boolean {
  try {
    const read = load(lines)
    return Array.isArray(read) && read.length === 1 && isSameItem(read[0] as Row, wanted)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    return hasAlias(lines)
  }
}

function hasAlias(lines: string): boolean {
  try {
    return nodesOf(lines).events.some(isAlias)
  } catch {
    return false
  }
}

function isSameItem(one: Row | null, other: Row): boolean {
  if (one === null || typeof one !== 'object') return false
  const { stories, ...own } = one
  const { stories: others, ...wanted } = other
  return isSame(own, wanted) && areSame(stories as Rows, others as Rows)
}

function areSame(some: Rows, others: Rows): boolean {
  const [list, wanted] = [some ?? [], others ?? []]
  if (list.length !== wanted.length) return false
  const byId = new Map(list.map((row) => [row['id'], row]))
  return wanted.every((row) => isSameItem(byId.get(row['id']) ?? null, row))
}
