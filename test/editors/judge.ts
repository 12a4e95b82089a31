// Checks that all changes of a person and a program are accounted for. Pure.
import type { Change, WorkIndex } from '../../src/work/model.ts'
import { canonicalKey } from '../../src/work/merge/lists.ts'
import { findStory } from '../work.ts'
import type { Edit } from './editor.ts'

type MarkedChange = { readonly id: string; readonly marker: string }

/** Changes acknowledged to the program. */
export type Done = {
  mutations: number
  readonly estimates: Map<string, number>
  readonly paths: MarkedChange[]
  readonly history: string[]
  readonly comments: MarkedChange[]
}

export type Case = {
  readonly edits: readonly Edit[]
  readonly done: Done
  /** The full history. */
  readonly changes: readonly Change[]
  /** The final content of the store and of the file. */
  readonly index: WorkIndex
  readonly file: WorkIndex
  /** History that has been archived (W25). */
  readonly archived: WorkIndex['history']
}

/** Describes lost changes. */
export const judge = (given: Case): string[] => [
  ...ofPerson(given),
  ...ofProgram(given),
  ...takenBack(given),
  ...(allOf(given.index) === allOf(given.file)
    ? []
    : ['the file does not say what the store says']),
]

/** Every edit is in the index, was replaced knowingly, or is reported as a conflict. */
function ofPerson({ edits, changes, index }: Case): string[] {
  const external = changes.filter((change) => change.external)
  const isTold = (id: string, field: string, theirs?: string) =>
    external.some(({ kind, fields }) => {
      const to = fields['entry']?.to as Record<string, unknown> | undefined
      return (
        kind === 'conflict' &&
        to?.['item'] === id &&
        to['field'] === field &&
        (theirs === undefined || to['theirs'] === theirs)
      )
    })
  const wasTaken = (id: string, field: string, to: string) =>
    external.some((change) => change.id === id && change.fields[field]?.to === to)
  const isRemoved = (id: string) =>
    external.some((change) => change.id === id && change.op === 'remove')

  return edits
    .filter((edit) => {
      const story = findStory(index, edit.id)
      switch (edit.act) {
        case 'field':
          return story?.[`x_${edit.marker}`] !== edit.marker
        case 'path':
          return !story?.paths?.includes(edit.marker)
        case 'story':
          return story?.title !== 'By hand'
        case 'delete':
          return story !== undefined && !isRemoved(edit.id) && !isTold(edit.id, '*')
        case 'notes': {
          const isOwn = edits.some(
            (later) => later.act === 'notes' && later.id === edit.id && later.over === edit.marker,
          )
          return (
            !isOwn &&
            !wasTaken(edit.id, 'notes', edit.marker) &&
            !isTold(edit.id, 'notes', edit.marker)
          )
        }
        default:
          return true
      }
    })
    .map((edit) => `the person’s ${JSON.stringify(edit)} is lost`)
}

/** Every acknowledged change is present, unless a person removed it knowingly. */
function ofProgram({ done, index, edits, archived }: Case): string[] {
  const lost: string[] = []
  const has = (list: readonly unknown[] | undefined, marker: string) =>
    list?.some((item) => item === marker || (item as { text?: string }).text === marker) === true
  for (const [id, estimate] of done.estimates) {
    const story = findStory(index, id)
    const wasSeen = edits.some(
      (edit) => edit.act === 'delete' && edit.id === id && edit.seen === estimate,
    )
    if (story ? story.estimate !== estimate : !wasSeen)
      lost.push(`the program’s estimate ${estimate} of ${id} is lost (${story?.estimate})`)
  }
  for (const { id, marker } of done.paths)
    if (!has(findStory(index, id)?.paths, marker)) lost.push(`the program’s path ${marker} is lost`)
  for (const { id, marker } of done.comments)
    if (!has(findStory(index, id)?.comments, marker)) lost.push(`the comment ${marker} is lost`)
  const summaries = new Set([...archived, ...index.history].map(({ summary }) => summary))
  for (const marker of done.history)
    if (!summaries.has(marker)) lost.push(`history ${marker} is lost`)
  return lost
}

/** No edit changed untouched fields: stale values in the editor are not edits. */
function takenBack({ changes, edits }: Case): string[] {
  const written = new Set(edits.flatMap((edit) => (edit.act === 'delete' ? [] : [edit.marker])))
  const isOwn = (field: string, to: unknown) =>
    ['rev', 'updated', 'by', 'paths'].includes(field) ||
    field.startsWith('x_hand-') ||
    (field === 'notes' && written.has(String(to)))
  return changes
    .filter(({ external, kind, op }) => external && kind === 'story' && op === 'set')
    .flatMap(({ seq, id, fields }) =>
      Object.entries(fields)
        .filter(([field, { to }]) => !isOwn(field, to))
        .map(
          ([field, { from, to }]) =>
            `change ${seq} took ${field} of ${id} back from ${String(from)} to ${String(to)}`,
        ),
    )
}

/** Canonical text of an index, independent of order. */
function allOf(index: WorkIndex): string {
  const byId = (list: readonly { readonly id: string }[]) =>
    list.map((one) => canonicalKey(one)).toSorted()
  const stories = index.sprints.flatMap(({ stories: list }) => list ?? [])
  return JSON.stringify([
    byId(stories),
    byId(index.backlog),
    byId(index.conflicts),
    index.history.map((one) => canonicalKey(one)).toSorted(),
  ])
}
