import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import {
  toPatch,
  checkId,
  duplicateIdError,
  nextFreeId,
  noFieldsError,
} from './project-transaction.ts'
import type { ProjectTransaction, createProjectTransactions } from './project-transaction.ts'
import type { BacklogItem, Story } from './model.ts'
import { isOpen } from './rules.ts'
import type { Stored } from './store.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'

/** Creates the operations on sprints and the moves of items into them. */
export function createSprints(openTransaction: ReturnType<typeof createProjectTransactions>) {
  async function createSprint(tx: Tx, input: ChangeInput<'worksync_create_sprint'>, call: Call) {
    const { project, sprint_id: id, title, status = 'planned', ...fields } = input
    checkId(id)
    const projectTx = await openTransaction(tx, project, call)
    if (await projectTx.find('sprint', id))
      throw duplicateIdError(
        project,
        'sprint',
        id,
        await nextFreeId(
          id,
          async (candidate) => (await projectTx.find('sprint', candidate)) !== undefined,
        ),
      )
    const sprint = projectTx.add('sprint', id, { title, status, ...fields })
    await projectTx.commit('work.added', { id })
    return { sprint }
  }

  /** Updates a sprint. Completing it moves its open stories to `carry_to` (W13). */
  async function updateSprint(tx: Tx, input: ChangeInput<'worksync_update_sprint'>, call: Call) {
    const { project, sprint_id: id, carry_to: target, archive, expect_rev, ...fields } = input
    const projectTx = await openTransaction(tx, project, call)
    const sprint = await projectTx.getOrThrow('sprint', id)
    projectTx.checkPreconditions(sprint, { expect_rev })
    const changed = toPatch(fields)
    if (archive) changed['archived'] = true
    if (Object.keys(changed).length === 0)
      throw noFieldsError('title, status, goal, themes, file, start, end, archive')
    const isCompleting = fields.status === 'completed' || archive
    if (archive && fields.status === undefined) changed['status'] = 'completed'
    const open = isCompleting
      ? (await projectTx.storiesOf(id)).filter(({ item }) => isOpen(item as Story))
      : []
    if (open.length > 0) {
      if (target === undefined)
        throw new CoworkError('open_stories', `${id} has ${open.length} open stories.`, {
          hint: 'Set carry_to to the sprint that receives the open stories.',
          details: { stories: open.map((story) => story.id) },
        })
      if (target === id)
        throw new CoworkError(
          'invalid_input',
          'Invalid carry_to: a sprint cannot carry stories to itself.',
          {
            hint: 'Name another sprint in carry_to.',
          },
        )
      await getOpenSprint(projectTx, target)
      for (const story of open) projectTx.set(story, {}, target)
    }
    const item = projectTx.set(sprint, changed)
    await projectTx.commit('work.changed', {
      id,
      ...(open.length > 0 && { data: { carried: open.length, carry_to: target } }),
    })
    return { sprint: item, carried: open.map((story) => story.id) }
  }

  /** Moves a story to another sprint, or turns a backlog item into a story of a sprint (W20). */
  async function move(tx: Tx, input: ChangeInput<'worksync_move'>, call: Call) {
    const { project, story_id: story, item_id: item, sprint_id: sprint, ...guards } = input
    if ((story === undefined) === (item === undefined))
      throw new CoworkError('invalid_input', 'Expected exactly one of story_id and item_id.', {
        hint: 'Give story_id to move a story, or item_id to turn a backlog item into one.',
      })
    const projectTx = await openTransaction(tx, project, call)
    await getOpenSprint(projectTx, sprint)
    if (story !== undefined) {
      const target = await projectTx.getOrThrow('story', story)
      projectTx.checkPreconditions(target, guards)
      if (target.sprint === sprint)
        throw new CoworkError('invalid_input', `${story} is already in ${sprint}.`, {
          hint: 'Name another sprint.',
        })
      const moved = projectTx.set(target, {}, sprint)
      await projectTx.commit('work.moved', { id: story, data: { from: target.sprint, to: sprint } })
      return { story: { ...moved, sprint_id: sprint } }
    }
    const target = await projectTx.getOrThrow('backlog', item ?? '')
    projectTx.checkPreconditions(target, guards)
    const { summary, priority, promoted_to: storyId } = target.item as BacklogItem
    if (storyId !== undefined)
      throw new CoworkError('duplicate_id', `${target.id} is already story ${storyId}.`, {
        hint: `Move ${storyId} instead.`,
      })
    const id = `STORY-${projectTx.reserveStoryNumber()}`
    const created = projectTx.add(
      'story',
      id,
      { title: summary, status: 'planned', priority, from_backlog: target.id },
      sprint,
    )
    projectTx.set(target, { promoted_to: id, status: 'in_progress' })
    await projectTx.commit('work.moved', { id, data: { from: target.id, to: sprint } })
    return { story: { ...created, sprint_id: sprint } }
  }

  async function addHistory(
    tx: Tx,
    input: {
      readonly project: string
      readonly summary: string
      readonly related_sprints?: readonly string[] | undefined
    },
    call: Call,
  ) {
    const { project, summary, related_sprints: sprints } = input
    const projectTx = await openTransaction(tx, project, call)
    const entry = projectTx.addHistory({ summary, ...(sprints && { related_sprints: sprints }) })
    await projectTx.commit('work.added', { data: { kind: 'history' } })
    return entry
  }

  return { createSprint, updateSprint, move, addHistory }
}

/**
 * Returns a sprint that can take stories. An archived sprint is removed soon with all its stories
 * (W13).
 */
export async function getOpenSprint(projectTx: ProjectTransaction, id: string): Promise<Stored> {
  const sprint = await projectTx.getOrThrow('sprint', id)
  if (sprint.item['archived'] !== true) return sprint
  throw new CoworkError('not_open', `Sprint ${id} is archived.`, { hint: 'Name another sprint.' })
}
