// Whether all that a person and a program did to a plan is accounted for. Pure.
import type { Change, WorkIndex } from '../../src/work/model.ts'
import { canonicalKey } from '../../src/work/merge/lists.ts'
import { findStory } from '../work.ts'
import type { Edit } from './editor.ts'

type Said = { readonly id: string; readonly said: string }

/** What the program was told is done. */
export type Done = {
  mutations: number
  readonly estimates: Map<string, number>
  readonly paths: Said[]
  readonly history: string[]
  readonly comments: Said[]
}

export type Case = {
  readonly edits: readonly Edit[]
  readonly done: Done
  /** The whole journal. */
  readonly changes: readonly Change[]
  /** What the store says in the end, and the file. */
  readonly index: WorkIndex
  readonly file: WorkIndex
  /** Old history that has moved out of it (W25). */
  readonly archived: WorkIndex['history']
}

/** What went wrong, in words. */
export const judge = (given: Case): string[] => [
  ...ofPerson(given),
  ...ofProgram(given),
  ...takenBack(given),
  ...(allOf(given.index) === allOf(given.file)
    ? []
    : ['the file does not say what the store says']),
]

/** Every edit is in the plan, was there until somebody changed it knowingly, or is told as a conflict. */
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
          return story?.[`x_${edit.said}`] !== edit.said
        case 'path':
          return !story?.paths?.includes(edit.said)
        case 'story':
          return story?.title !== 'By hand'
        case 'delete':
          return story !== undefined && !isRemoved(edit.id) && !isTold(edit.id, '*')
        case 'notes': {
          const isOwn = edits.some(
            (later) => later.act === 'notes' && later.id === edit.id && later.over === edit.said,
          )
          return (
            !isOwn && !wasTaken(edit.id, 'notes', edit.said) && !isTold(edit.id, 'notes', edit.said)
          )
        }
        default:
          return true
      }
    })
    .map((edit) => `the person’s ${JSON.stringify(edit)} is lost`)
}

/** What was acknowledged is there, unless a person who knew it took it away. */
function ofProgram({ done, index, edits, archived }: Case): string[] {
  const lost: string[] = []
  const has = (list: readonly unknown[] | undefined, said: string) =>
    list?.some((one) => one === said || (one as { text?: string }).text === said) === true
  for (const [id, estimate] of done.estimates) {
    const story = findStory(index, id)
    const wasSeen = edits.some(
      (edit) => edit.act === 'delete' && edit.id === id && edit.seen === estimate,
    )
    if (story ? story.estimate !== estimate : !wasSeen)
      lost.push(`the program’s estimate ${estimate} of ${id} is lost (${story?.estimate})`)
  }
  for (const { id, said } of done.paths)
    if (!has(findStory(index, id)?.paths, said)) lost.push(`the program’s path ${said} is lost`)
  for (const { id, said } of done.comments)
    if (!has(findStory(index, id)?.comments, said)) lost.push(`the comment ${said} is lost`)
  const summaries = new Set([...archived, ...index.history].map(({ summary }) => summary))
  for (const said of done.history) if (!summaries.has(said)) lost.push(`history ${said} is lost`)
  return lost
}

/** No edit changed what the person did not touch: old values that an editor still had are no edits. */
function takenBack({ changes, edits }: Case): string[] {
  const written = new Set(edits.flatMap((edit) => (edit.act === 'delete' ? [] : [edit.said])))
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

/** The same words for the same plan, in whatever order it stands. */
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
