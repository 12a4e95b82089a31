import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { Tx } from '#base/db/port.ts'
import type { EntryDraft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { newId } from '#base/ids.ts'
import type { JournalStep, WorkParts } from './journal.ts'
import type { Row } from './merge/flat.ts'
import type { HistoryEntry, ItemKind, Lease, Story } from './model.ts'
import { isValidId, isLeased } from './rules.ts'
import type { ProjectRow, Stored } from './store.ts'

/** Optional preconditions of a change (W20, W22). */
type Preconditions = {
  readonly expect_rev?: number | undefined
  readonly fence?: number | undefined
}

/** Converts input to a patch for `set`: omitted fields are absent, null fields become undefined. */
export const toPatch = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(omitUndefined(fields)).map(([field, value]) => [field, value ?? undefined]),
  )

const omitUndefined = (fields: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export const leaseHeldError = (id: string, lease: Lease) =>
  new CoworkError('lease_held', `${id} is claimed by ${lease.agent} until ${lease.until}.`, {
    hint: 'Choose another story from worksync_ready.',
    details: { lease },
  })

export const noFieldsError = (names: string) =>
  new CoworkError('invalid_input', 'No field to change.', {
    hint: `Give at least one field: ${names}.`,
  })

export type ItemResult = Row & { readonly id: string }

export type ProjectTransaction =
  ReturnType<ReturnType<typeof createProjectTransactions>> extends Promise<infer A> ? A : never

/**
 * Creates transactions on a project: each locks the project row, collects steps and appends one
 * entry on commit.
 */
export function createProjectTransactions({
  store,
  journal,
  now,
}: Pick<WorkParts, 'store' | 'journal' | 'now'>) {
  return async function openTransaction(tx: Tx, project: string, call: Call) {
    const row: ProjectRow = await journal.lockProject(tx, project)
    const at = now()
    const { caller } = call
    const by = toAuthorName(caller)
    const time = formatRfc3339(at)
    let { nextStory } = row
    const steps: JournalStep[] = []

    const find = (kind: ItemKind | 'conflict', id: string) => store.item(tx, project, kind, id)

    async function getOrThrow(kind: ItemKind | 'conflict', id: string): Promise<Stored> {
      const found = await find(kind, id)
      if (found) return found
      throw new CoworkError(
        'not_found',
        `Not found: ${kindLabels[kind]} ${JSON.stringify(id)} in ${project}.`,
        {
          hint: 'Search for the item with worksync_search.',
        },
      )
    }

    /** Checks the expected revision and fence, and that no other agent has claimed the story. */
    function checkPreconditions(
      { kind, id, item, rev }: Stored,
      { expect_rev: expected, fence }: Preconditions,
    ): void {
      if (expected !== undefined && expected !== rev)
        throw new CoworkError('stale_rev', `${id} is at revision ${rev}, not ${expected}.`, {
          hint: 'Check the current item, then retry with its revision.',
          details: { current: { ...item, rev } },
        })
      const { lease } = item as Story
      if (kind !== 'story' || caller.kind !== 'agent') return
      if (lease && isLeased(item, at) && lease.agent !== by) throw leaseHeldError(id, lease)
      if (fence !== undefined && fence !== lease?.fence)
        throw new CoworkError(
          'stale_fence',
          lease
            ? `${id} was claimed again (fence ${lease.fence}).`
            : `Your claim of ${id} has ended.`,
          {
            hint: 'Claim the story again before you continue.',
            details: { ...(lease && { lease }) },
          },
        )
    }

    /** Changes fields of an item and records author and time; undefined fields are removed. */
    function set(before: Stored, fields: Row, sprint?: string): ItemResult {
      const item = omitUndefined({
        ...before.item,
        ...fields,
        rev: before.rev + 1,
        updated: time,
        by,
      })
      const { kind, id } = before
      steps.push({ kind, id, before, after: { item, sprint: sprint ?? before.sprint } })
      return { ...item, id: before.id }
    }

    function add(
      kind: ItemKind,
      id: string,
      fields: Row,
      sprint: string | null = null,
    ): ItemResult {
      const item = { id, ...omitUndefined(fields), rev: 1, updated: time, by }
      steps.push({ kind, id, before: undefined, after: { item, sprint } })
      return item
    }

    function remove(before: Stored): void {
      steps.push({ kind: before.kind, id: before.id, before, after: undefined })
    }

    function addHistory(
      entry: Pick<HistoryEntry, 'summary' | 'related_sprints' | 'kind' | 'ref'>,
    ): HistoryEntry {
      const item = {
        date: time.slice(0, 10),
        ...omitUndefined(entry),
        at: time,
        by,
      } as HistoryEntry
      steps.push({ kind: 'history', id: newId(), before: undefined, after: { item } })
      return item
    }

    /** Returns a number that no story ever had (W14). */
    const reserveStoryNumber = (): number => nextStory++
    /** Marks the number of an explicit story id as used. */
    const markNumberUsed = (number: number): void => {
      nextStory = Math.max(nextStory, number + 1)
    }

    async function commit(
      type: string,
      about: Partial<EntryDraft> & { id?: string; extraFields?: readonly string[] } = {},
    ): Promise<void> {
      const { id, data, extraFields, ...rest } = about
      await journal.write(tx, row, { by, at, call: call.id }, steps, nextStory)
      tx.append({
        type,
        actor: toActor(caller),
        domain: 'work',
        subject: id === undefined ? project : `${project}/${id}`,
        ids: { call: call.id },
        ...rest,
        data: { ...summarizeSteps(steps, extraFields), ...data },
      })
    }

    return {
      tx,
      project,
      at,
      time,
      by,
      caller,
      find,
      getOrThrow,
      checkPreconditions,
      set,
      add,
      remove,
      addHistory,
      reserveStoryNumber,
      markNumberUsed,
      commit,
      storiesOf: (sprint: string) => store.listStories(tx, project, sprint),
      /** Adds a step directly, for example a change that the file does not show. */
      addStep: (step: JournalStep) => void steps.push(step),
      nextStory: () => nextStory,
      seq: () => row.seq + steps.length,
    }
  }
}

/**
 * Returns the author name for the work index. The self-declared name distinguishes agents that
 * share a key (I5).
 */
const toAuthorName = ({ id, claim }: Caller): string =>
  claim === undefined ? id : `${id}:${claim}`

const kindLabels = {
  sprint: 'sprint',
  story: 'story',
  backlog: 'backlog item',
  conflict: 'conflict',
} as const

/** Summarizes the steps for the entry: the item, its changed fields and additional ones. */
function summarizeSteps(
  steps: readonly JournalStep[],
  extraFields: readonly string[] = [],
): Record<string, unknown> {
  const items = steps.filter(({ kind }) => kind !== 'history')
  const [first] = items
  if (!first || items.length > 1) return { items: items.map(({ id }) => id).slice(0, 100) }
  const [from, to] = [first.before?.item ?? {}, first.after?.item ?? {}]
  const fields = first.after
    ? [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
        (key) => from[key] !== to[key] && !bookkeepingFields.has(key),
      )
    : []
  const { status } = to
  return {
    kind: first.kind,
    fields: [...fields, ...extraFields],
    ...(typeof status === 'string' && { status }),
  }
}

const bookkeepingFields = new Set(['rev', 'updated', 'by', 'id'])

export function checkId(id: string): void {
  if (isValidId(id)) return
  throw new CoworkError('invalid_id', `Invalid id: ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'Use kebab-case such as pin-actions, or STORY-7.',
  })
}

/** Returns the first free id of `id-2`, `id-3` … */
export async function nextFreeId(
  id: string,
  isTaken: (id: string) => Promise<boolean>,
): Promise<string> {
  for (let n = 2; ; n++) if (!(await isTaken(`${id}-${n}`))) return `${id}-${n}`
}

export const duplicateIdError = (project: string, what: string, id: string, suggestion: string) =>
  new CoworkError('duplicate_id', `Duplicate ${what} id in ${project}: ${id}.`, {
    hint: `Use the suggestion, or change the existing ${what}.`,
    details: { suggestion },
  })
