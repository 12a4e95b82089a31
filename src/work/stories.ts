import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import { toPatch, checkId, noFieldsError } from './project-transaction.ts'
import type { ProjectTransaction, createProjectTransactions } from './project-transaction.ts'
import type { Comment, Story } from './model.ts'
import { getOpenSprint } from './sprints.ts'
import type { Stored } from './store.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'
import { findCycleThrough, isOpen, parseStoryNumber, sourceBacklogId } from './rules.ts'

export function createStories(openTransaction: ReturnType<typeof createProjectTransactions>) {
  async function addStory(tx: Tx, input: ChangeInput<'worksync_add_story'>, call: Call) {
    const { project, sprint_id: sprint, story_id: given, ...fields } = input
    const projectTx = await openTransaction(tx, project, call)
    await getOpenSprint(projectTx, sprint)
    if (given !== undefined) {
      checkId(given)
      if (await projectTx.find('story', given))
        throw new CoworkError('duplicate_id', `Duplicate story id in ${project}: ${given}.`, {
          hint: 'Omit story_id, or use the suggestion.',
          details: { suggestion: `STORY-${projectTx.nextStory()}` },
        })
    }
    const id = given ?? `STORY-${projectTx.reserveStoryNumber()}`
    projectTx.markNumberUsed(parseStoryNumber(id))
    await checkDependencies(projectTx, id, fields.depends_on)
    const { title, status = 'planned', ...rest } = fields
    const story = projectTx.add('story', id, { title, status, ...rest }, sprint)
    await projectTx.commit('work.added', { id, data: { sprint } })
    return { story: { ...story, sprint_id: sprint } }
  }

  async function updateStory(tx: Tx, input: ChangeInput<'worksync_update_story'>, call: Call) {
    const { project, story_id: id, sprint_id: sprint, append_notes: addedNotes, ...rest } = input
    const { expect_rev, fence, ...given } = rest
    const projectTx = await openTransaction(tx, project, call)
    const story = await projectTx.getOrThrow('story', id)
    checkSprint(story, sprint)
    projectTx.checkPreconditions(story, { expect_rev, fence })
    const fields = toPatch(given)
    if (addedNotes !== undefined)
      fields['notes'] = appendNotes(fields['notes'] ?? story.item['notes'], addedNotes)
    if (Object.keys(fields).length === 0)
      throw noFieldsError(
        'status, title, notes, append_notes, priority, estimate, depends_on, acceptance, paths',
      )
    await checkDependencies(projectTx, id, given.depends_on)
    const isReopened = given.status !== undefined && isOpen(given) && !isOpen(story.item)
    if (isReopened && story.sprint !== null) await getOpenSprint(projectTx, story.sprint)
    // A finished story has no lease.
    if (!isOpen(given)) fields['lease'] = undefined
    const item = projectTx.set(story, fields)
    await projectTx.commit('work.changed', { id })
    return { story: { ...item, sprint_id: story.sprint ?? '' } }
  }

  /** Marks a story done and adds a history entry in one transaction (W16). */
  async function done(tx: Tx, input: ChangeInput<'worksync_done'>, call: Call) {
    const { project, story_id: id, sprint_id: sprint, summary, notes, ...guards } = input
    const projectTx = await openTransaction(tx, project, call)
    const story = await projectTx.getOrThrow('story', id)
    checkSprint(story, sprint)
    projectTx.checkPreconditions(story, guards)
    const current = story.item as Story
    const { status, title } = current
    const from = sourceBacklogId(current)
    if (status === 'done')
      throw new CoworkError('already_done', `${id} is already done.`, {
        hint: 'Call worksync_history to see when and by whom.',
      })
    const item = projectTx.set(story, {
      status: 'done',
      lease: undefined,
      ...(notes !== undefined && { notes: appendNotes(story.item['notes'], notes) }),
    })
    const entry = projectTx.addHistory({
      summary: summary ?? `Completed ${id}${title === undefined ? '' : `: ${title}`}`,
      related_sprints: story.sprint === null ? [] : [story.sprint],
      kind: 'done',
      ref: id,
    })
    const origin = from === undefined ? undefined : await projectTx.find('backlog', from)
    if (origin && origin.item['status'] !== 'done') projectTx.set(origin, { status: 'done' })
    await projectTx.commit('work.changed', { id, outcome: 'done' })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, history: entry }
  }

  async function comment(tx: Tx, input: ChangeInput<'worksync_comment'>, call: Call) {
    const { project, story_id: story, item_id: item, text } = input
    const projectTx = await openTransaction(tx, project, call)
    const id = story ?? item
    if (id === undefined)
      throw new CoworkError('invalid_input', 'Missing story_id or item_id.', {
        hint: 'Give the id of the story or backlog item to comment on.',
      })
    const target = await projectTx.getOrThrow(story === undefined ? 'backlog' : 'story', id)
    const comments = (target.item['comments'] ?? []) as readonly Comment[]
    projectTx.set(target, {
      comments: [...comments, { at: projectTx.time, by: projectTx.by, text }],
    })
    await projectTx.commit('work.changed', { id })
    return { id, comments: comments.length + 1 }
  }

  return { addStory, updateStory, done, comment }
}

/** Rejects another sprint: the caller means another story or wants a move. */
function checkSprint({ id, sprint }: Stored, given: string | undefined): void {
  if (given === undefined || given === sprint) return
  throw new CoworkError('not_found', `Story ${id} is not in sprint ${JSON.stringify(given)}.`, {
    hint: `Omit sprint_id, or move the story from ${JSON.stringify(sprint)} with worksync_move.`,
    details: { sprint_id: sprint },
  })
}

function appendNotes(before: unknown, more: string): string {
  if (typeof before !== 'string' || before === '') return more
  return before.endsWith('\n') ? before + more : `${before}\n${more}`
}

/** Checks that the dependencies exist and do not form a cycle (W20). */
async function checkDependencies(
  projectTx: ProjectTransaction,
  id: string,
  dependencies: readonly string[] | undefined,
): Promise<void> {
  if (!dependencies || dependencies.length === 0) return
  const dependenciesById = new Map<string, readonly string[]>()
  const load = async (dependency: string): Promise<void> => {
    if (dependenciesById.has(dependency)) return
    const story = await projectTx.find('story', dependency)
    if (!story && dependencies.includes(dependency) && dependency !== id)
      throw new CoworkError(
        'not_found',
        `Dependency not found: story ${JSON.stringify(dependency)} in ${projectTx.project}.`,
        {
          hint: 'Search for the story with worksync_search.',
        },
      )
    const next = (story?.item as Story | undefined)?.depends_on ?? []
    dependenciesById.set(dependency, next)
    for (const dependency of next) await load(dependency)
  }
  for (const dependency of dependencies) await load(dependency)
  const cycle = findCycleThrough(id, dependencies, (dependency) =>
    dependency === id ? [] : (dependenciesById.get(dependency) ?? []),
  )
  if (cycle)
    throw new CoworkError('dependency_cycle', `Dependency cycle: ${cycle.join(' → ')}.`, {
      hint: 'Remove one dependency of the cycle from depends_on.',
      details: { cycle },
    })
}
