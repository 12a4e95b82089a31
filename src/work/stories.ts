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

export function createStories(act: ReturnType<typeof createProjectTransactions>) {
  async function addStory(tx: Tx, input: ChangeInput<'worksync_add_story'>, call: Call) {
    const { project, sprint_id: sprint, story_id: given, ...fields } = input
    const on = await act(tx, project, call)
    await getOpenSprint(on, sprint)
    if (given !== undefined) {
      checkId(given)
      if (await on.find('story', given))
        throw new CoworkError('duplicate_id', `Duplicate story id in ${project}: ${given}.`, {
          hint: 'Omit story_id, or use the suggestion.',
          details: { suggestion: `STORY-${on.nextStory()}` },
        })
    }
    const id = given ?? `STORY-${on.takeNumber()}`
    on.countNumber(parseStoryNumber(id))
    await checkNeeds(on, id, fields.depends_on)
    const { title, status = 'planned', ...rest } = fields
    const story = on.add('story', id, { title, status, ...rest }, sprint)
    await on.commit('work.added', { id, data: { sprint } })
    return { story: { ...story, sprint_id: sprint } }
  }

  async function updateStory(tx: Tx, input: ChangeInput<'worksync_update_story'>, call: Call) {
    const { project, story_id: id, sprint_id: sprint, append_notes: more, ...rest } = input
    const { expect_rev, fence, ...given } = rest
    const on = await act(tx, project, call)
    const story = await on.need('story', id)
    checkSprint(story, sprint)
    on.guard(story, { expect_rev, fence })
    const fields = toPatch(given)
    if (more !== undefined) fields['notes'] = appended(fields['notes'] ?? story.item['notes'], more)
    if (Object.keys(fields).length === 0)
      throw noFieldsError(
        'status, title, notes, append_notes, priority, estimate, depends_on, acceptance, paths',
      )
    await checkNeeds(on, id, given.depends_on)
    const isReopened = given.status !== undefined && isOpen(given) && !isOpen(story.item)
    if (isReopened && story.sprint !== null) await getOpenSprint(on, story.sprint)
    // A finished story has no lease.
    if (!isOpen(given)) fields['lease'] = undefined
    const item = on.set(story, fields)
    await on.commit('work.changed', { id })
    return { story: { ...item, sprint_id: story.sprint ?? '' } }
  }

  /** Marks a story done and adds a history entry in one transaction (W16). */
  async function done(tx: Tx, input: ChangeInput<'worksync_done'>, call: Call) {
    const { project, story_id: id, sprint_id: sprint, summary, notes, ...guards } = input
    const on = await act(tx, project, call)
    const story = await on.need('story', id)
    checkSprint(story, sprint)
    on.guard(story, guards)
    const open = story.item as Story
    const { status, title } = open
    const from = sourceBacklogId(open)
    if (status === 'done')
      throw new CoworkError('already_done', `${id} is already done.`, {
        hint: 'See when and by whom in worksync_history.',
      })
    const item = on.set(story, {
      status: 'done',
      lease: undefined,
      ...(notes !== undefined && { notes: appended(story.item['notes'], notes) }),
    })
    const entry = on.remember({
      summary: summary ?? `Completed ${id}${title === undefined ? '' : `: ${title}`}`,
      related_sprints: story.sprint === null ? [] : [story.sprint],
      kind: 'done',
      ref: id,
    })
    const origin = from === undefined ? undefined : await on.find('backlog', from)
    if (origin && origin.item['status'] !== 'done') on.set(origin, { status: 'done' })
    await on.commit('work.changed', { id, outcome: 'done' })
    return { story: { ...item, sprint_id: story.sprint ?? '' }, history: entry }
  }

  async function comment(tx: Tx, input: ChangeInput<'worksync_comment'>, call: Call) {
    const { project, story_id: story, item_id: item, text } = input
    const on = await act(tx, project, call)
    const id = story ?? item
    if (id === undefined)
      throw new CoworkError('invalid_input', 'Missing story_id or item_id.', {
        hint: 'Give the id of the story or backlog item to comment on.',
      })
    const found = await on.need(story === undefined ? 'backlog' : 'story', id)
    const comments = (found.item['comments'] ?? []) as readonly Comment[]
    on.set(found, { comments: [...comments, { at: on.time, by: on.by, text }] })
    await on.commit('work.changed', { id })
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

function appended(before: unknown, more: string): string {
  if (typeof before !== 'string' || before === '') return more
  return before.endsWith('\n') ? before + more : `${before}\n${more}`
}

/** Checks that the dependencies exist and do not form a cycle (W20). */
async function checkNeeds(
  on: ProjectTransaction,
  id: string,
  needs: readonly string[] | undefined,
): Promise<void> {
  if (!needs || needs.length === 0) return
  const known = new Map<string, readonly string[]>()
  const load = async (one: string): Promise<void> => {
    if (known.has(one)) return
    const story = await on.find('story', one)
    if (!story && needs.includes(one) && one !== id)
      throw new CoworkError(
        'not_found',
        `Dependency not found: story ${JSON.stringify(one)} in ${on.project}.`,
        {
          hint: 'Search for the story with worksync_search.',
        },
      )
    const next = (story?.item as Story | undefined)?.depends_on ?? []
    known.set(one, next)
    for (const further of next) await load(further)
  }
  for (const one of needs) await load(one)
  const cycle = findCycleThrough(id, needs, (one) => (one === id ? [] : (known.get(one) ?? [])))
  if (cycle)
    throw new CoworkError('dependency_cycle', `Dependency cycle: ${cycle.join(' → ')}.`, {
      hint: 'Remove one of them from depends_on.',
      details: { cycle },
    })
}
