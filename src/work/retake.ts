import { CoworkError } from '#base/errors.ts'
import type { Act } from './act.ts'
import { readCopy } from './disk/copies.ts'
import type { DataRoot } from './disk/data-root.ts'
import { conflictOf, indexOf, stepsTo } from './disk/take-over.ts'
import { versionAfter } from './merge/ancestor.ts'
import { mergeEdit } from './merge/merge.ts'
import type { Conflict } from './model.ts'
import { nextStoryOf } from './rules.ts'
import type { WorkStore } from './store.ts'
import { readPlan } from './yaml/read.ts'

type Deps = {
  readonly store: WorkStore
  readonly root: Pick<DataRoot, 'isHolder' | 'folderOf'>
}

/**
 * Takes what a person saved as made from the version that stood there then, after it was held for an older one
 * (W5). What others wrote since stays, or is told.
 */
export const createRetaking = ({ store, root }: Deps) =>
  async function retake(on: Act, { copy = '', seq = NaN }: Conflict): Promise<void> {
    const { tx, project } = on
    const bytes = root.isHolder ? readCopy(root.folderOf(project), copy) : undefined
    const read = bytes && readPlan(bytes)
    if (!read?.ok)
      throw new CoworkError('not_found', `The copy of that text (${copy}) cannot be read here.`, {
        hint: 'Take ours: then the conflict ends.',
      })
    const stored = await store.items(tx, project)
    const row = await store.project(tx, project)
    const ours = indexOf(stored, row?.version ?? 2, on.nextStory())
    const changes = await store.changesSince(tx, project, Number.isInteger(seq) ? seq : 0)
    const base = versionAfter(ours, changes.toReversed(), seq)
    if (!base)
      throw new CoworkError('invalid_input', 'Too much has changed since that text was saved.', {
        hint: `Take ours, and take from the copy (${copy}) what you want back.`,
      })
    const { merged, clashes } = mergeEdit({ base, ours, theirs: read.index })
    const conflicts = clashes.map((clash) => conflictOf(clash, copy, on.at))
    for (const step of stepsTo(stored, ours, merged, conflicts)) {
      const { before, after } = step
      // Whoever settles it changes the story: not while another agent has it (W16).
      if (before) on.guard(before, {})
      const isEntry = step.kind === 'history' || step.kind === 'conflict'
      const marks = { rev: (before?.rev ?? 0) + 1, updated: on.time, by: on.by }
      on.step(
        isEntry || !after
          ? step
          : { ...step, after: { ...after, item: { ...after.item, ...marks } } },
      )
    }
    on.countNumber(nextStoryOf(on.nextStory(), merged) - 1)
  }
