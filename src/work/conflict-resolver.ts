import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'
import type { ProjectTransaction, createProjectTransactions } from './project-transaction.ts'
import type { Conflict, ItemKind } from './model.ts'
import { getOpenSprint } from './sprints.ts'
import { isOpen, nextStoryNumber } from './rules.ts'
import type { Stored, WorkStore } from './store.ts'
import type { BacklogTexts } from './backlog-texts.ts'
import { readCopy } from './disk/confined-read.ts'
import type { DataRoot } from './disk/data-root.ts'
import { toConflict, buildIndex, diffSteps } from './disk/import-edit.ts'
import { reconstructVersion } from './merge/merge-base.ts'
import { mergeThreeWay } from './merge/merge.ts'
import { parseIndexBytes } from './yaml/read.ts'

/** Creates the operation that resolves a conflict between edits of a person and an agent (W5). */
export const createConflictResolver = (
  act: ReturnType<typeof createProjectTransactions>,
  texts: BacklogTexts,
  retake: ReturnType<typeof createReimport>,
) =>
  async function resolve(
    tx: Tx,
    { project, conflict_id: id, take }: ChangeInput<'worksync_resolve'>,
    call: Call,
  ) {
    const on = await act(tx, project, call)
    const found = await on.need('conflict', id)
    const { kind, of, item, field, theirs, ours } = found.item as Conflict
    on.remove(found)
    if (take === 'theirs' && kind === 'possible_revert') await retake(on, found.item as Conflict)
    const target = await itemNamed(on, item, of)
    if (kind === 'same_field' && take === 'theirs') {
      if (!target)
        throw new CoworkError('not_found', `${item} no longer exists.`, {
          hint: 'Resolve the conflict with ours.',
        })
      // Resolving changes the story, so another agent must not have claimed it (W16).
      on.guard(target, {})
      if (field === 'sprint') {
        await getOpenSprint(on, String(theirs))
        on.set(target, {}, String(theirs))
      } else if (field === 'text' && target.kind === 'backlog') {
        const { copy } = found.item as Conflict
        if (typeof theirs !== 'string')
          throw new CoworkError(
            'too_large',
            `The file version of the text of ${item} is too long.`,
            {
              hint: `Resolve the conflict with ours, then take what you need from the copy (${copy ?? 'missing'}).`,
            },
          )
        const text = await texts.instead(on, target.id, theirs)
        on.set(target, {})
        await texts.put(on, target.id, text)
      } else {
        const isEnd = target.kind === 'story' && !isOpen({ ...target.item, [field]: theirs })
        on.set(target, { [field]: theirs, ...(isEnd && { lease: undefined }) })
      }
    }
    // One side deleted the item: choosing that side deletes it, choosing the other keeps it.
    const isDeletion = ours === undefined ? take === 'ours' : take === 'theirs'
    if (kind === 'delete_against_edit' && isDeletion && target) {
      on.guard(target, {})
      await removeWhole(on, target)
    }
    await on.commit('work.conflict_resolved', { id: item, data: { conflict: id, field, take } })
    const now = target && (await on.find(target.kind as ItemKind, target.id))
    return { resolved: id, ...(now && { item: now.item }) }
  }

/** Finds the item of a conflict. Without a kind in the file, any item with the id matches. */
async function itemNamed(
  on: ProjectTransaction,
  id: string,
  of?: ItemKind,
): Promise<Stored | undefined> {
  for (const kind of of ? [of] : (['story', 'backlog', 'sprint'] as const)) {
    const found = await on.find(kind, id)
    if (found) return found
  }
  return undefined
}

async function removeWhole(on: ProjectTransaction, target: Stored): Promise<void> {
  if (target.kind === 'sprint') {
    const stories = await on.storiesOf(target.id)
    if (stories.length > 0)
      throw new CoworkError('open_stories', `${target.id} has ${stories.length} stories.`, {
        hint: 'Move them to another sprint first.',
        details: { stories: stories.map(({ id }) => id) },
      })
  }
  on.remove(target)
}

type Deps = {
  readonly store: WorkStore
  readonly root: Pick<DataRoot, 'isHolder' | 'folderOf'>
}

/**
 * Creates the reimport of an edit that was merged against an older version. It merges the edit
 * against the version of the file at that time and keeps or reports later changes of others (W5).
 */
export const createReimport = ({ store, root }: Deps) =>
  async function retake(on: ProjectTransaction, { copy = '', seq = NaN }: Conflict): Promise<void> {
    const { tx, project } = on
    const bytes = root.isHolder ? readCopy(root.folderOf(project), copy) : undefined
    const read = bytes && parseIndexBytes(bytes)
    if (!read?.ok)
      throw new CoworkError('not_found', `Cannot read the copy of the file: ${copy}.`, {
        hint: 'Resolve the conflict with ours.',
      })
    const stored = await store.items(tx, project)
    const row = await store.project(tx, project)
    const ours = buildIndex(stored, row?.version ?? 2, on.nextStory())
    const changes = await store.changesSince(tx, project, Number.isInteger(seq) ? seq : 0)
    const base = reconstructVersion(ours, changes.toReversed(), seq)
    if (!base)
      throw new CoworkError(
        'invalid_input',
        'Cannot apply the file version: too many changes since it was saved.',
        {
          hint: `Resolve the conflict with ours, then take what you need from the copy (${copy}).`,
        },
      )
    const { merged, clashes } = mergeThreeWay({ base, ours, theirs: read.index })
    const conflicts = clashes.map((clash) => toConflict(clash, copy, on.at))
    for (const step of diffSteps(stored, ours, merged, conflicts)) {
      const { before, after } = step
      // Resolving changes the story, so another agent must not have claimed it (W16).
      if (before) on.guard(before, {})
      const isEntry = step.kind === 'history' || step.kind === 'conflict'
      const marks = { rev: (before?.rev ?? 0) + 1, updated: on.time, by: on.by }
      on.step(
        isEntry || !after
          ? step
          : { ...step, after: { ...after, item: { ...after.item, ...marks } } },
      )
    }
    on.countNumber(nextStoryNumber(on.nextStory(), merged) - 1)
  }
