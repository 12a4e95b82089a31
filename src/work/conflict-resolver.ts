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
  openTransaction: ReturnType<typeof createProjectTransactions>,
  texts: BacklogTexts,
  reimport: ReturnType<typeof createReimport>,
) =>
  async function resolve(
    tx: Tx,
    { project, conflict_id: id, take }: ChangeInput<'worksync_resolve'>,
    call: Call,
  ) {
    const projectTx = await openTransaction(tx, project, call)
    const stored = await projectTx.getOrThrow('conflict', id)
    const { kind, of, item, field, theirs, ours } = stored.item as Conflict
    projectTx.remove(stored)
    if (take === 'theirs' && kind === 'possible_revert')
      await reimport(projectTx, stored.item as Conflict)
    const target = await findConflictItem(projectTx, item, of)
    if (kind === 'same_field' && take === 'theirs') {
      if (!target)
        throw new CoworkError('not_found', `${item} no longer exists.`, {
          hint: 'Resolve the conflict with ours.',
        })
      // Resolving changes the story, so another agent must not have claimed it (W16).
      projectTx.checkPreconditions(target, {})
      if (field === 'sprint') {
        await getOpenSprint(projectTx, String(theirs))
        projectTx.set(target, {}, String(theirs))
      } else if (field === 'text' && target.kind === 'backlog') {
        const { copy } = stored.item as Conflict
        if (typeof theirs !== 'string')
          throw new CoworkError(
            'too_large',
            `The file version of the text of ${item} is too long.`,
            {
              hint: `Resolve the conflict with ours, then take what you need from the copy (${copy ?? 'missing'}).`,
            },
          )
        const text = await texts.prepareReplacement(projectTx, target.id, theirs)
        projectTx.set(target, {})
        await texts.put(projectTx, target.id, text)
      } else {
        const isEnd = target.kind === 'story' && !isOpen({ ...target.item, [field]: theirs })
        projectTx.set(target, { [field]: theirs, ...(isEnd && { lease: undefined }) })
      }
    }
    // One side deleted the item: choosing that side deletes it, choosing the other keeps it.
    const isDeletion = ours === undefined ? take === 'ours' : take === 'theirs'
    if (kind === 'delete_against_edit' && isDeletion && target) {
      projectTx.checkPreconditions(target, {})
      await removeItem(projectTx, target)
    }
    await projectTx.commit('work.conflict_resolved', {
      id: item,
      data: { conflict: id, field, take },
    })
    const current = target && (await projectTx.find(target.kind as ItemKind, target.id))
    return { resolved: id, ...(current && { item: current.item }) }
  }

/** Finds the item of a conflict. Without a kind in the file, any item with the id matches. */
async function findConflictItem(
  projectTx: ProjectTransaction,
  id: string,
  of?: ItemKind,
): Promise<Stored | undefined> {
  for (const kind of of ? [of] : (['story', 'backlog', 'sprint'] as const)) {
    const stored = await projectTx.find(kind, id)
    if (stored) return stored
  }
  return undefined
}

async function removeItem(projectTx: ProjectTransaction, target: Stored): Promise<void> {
  if (target.kind === 'sprint') {
    const stories = await projectTx.storiesOf(target.id)
    if (stories.length > 0)
      throw new CoworkError('open_stories', `${target.id} has ${stories.length} stories.`, {
        hint: 'Move its stories to another sprint first.',
        details: { stories: stories.map(({ id }) => id) },
      })
  }
  projectTx.remove(target)
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
  async function reimport(
    projectTx: ProjectTransaction,
    { copy = '', seq = NaN }: Conflict,
  ): Promise<void> {
    const { tx, project } = projectTx
    const bytes = root.isHolder ? readCopy(root.folderOf(project), copy) : undefined
    const parsed = bytes && parseIndexBytes(bytes)
    if (!parsed?.ok)
      throw new CoworkError('not_found', `Cannot read the copy of the file: ${copy}.`, {
        hint: 'Resolve the conflict with ours.',
      })
    const stored = await store.items(tx, project)
    const row = await store.project(tx, project)
    const ours = buildIndex(stored, row?.version ?? 2, projectTx.nextStory())
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
    const { merged, mergeConflicts } = mergeThreeWay({ base, ours, theirs: parsed.index })
    const conflicts = mergeConflicts.map((mergeConflict) =>
      toConflict(mergeConflict, copy, projectTx.at),
    )
    for (const step of diffSteps(stored, ours, merged, conflicts)) {
      const { before, after } = step
      // Resolving changes the story, so another agent must not have claimed it (W16).
      if (before) projectTx.checkPreconditions(before, {})
      const isEntry = step.kind === 'history' || step.kind === 'conflict'
      const marks = { rev: (before?.rev ?? 0) + 1, updated: projectTx.time, by: projectTx.by }
      projectTx.addStep(
        isEntry || !after
          ? step
          : { ...step, after: { ...after, item: { ...after.item, ...marks } } },
      )
    }
    projectTx.markNumberUsed(nextStoryNumber(projectTx.nextStory(), merged) - 1)
  }
