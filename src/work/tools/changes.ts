import type * as z from 'zod'
import type { Tx } from '#base/db/port.ts'
import type { Call, Tool } from '#base/tool.ts'
import type { Work } from '../service.ts'
import { workResults } from '../wire.ts'
import { changeInputs, toCallTarget, omitAgent } from './shared-schemas.ts'
import type { ChangeInput, ChangeName } from './shared-schemas.ts'

type Verb<N extends ChangeName> = (
  tx: Tx,
  input: ChangeInput<N>,
  call: Call,
) => Promise<z.output<(typeof workResults)[N]>>

/**
 * Builds a tool that changes an item. `ids` are the arguments that can name the item; the first is
 * also accepted as `id`.
 */
const changeTool = <N extends ChangeName>(
  name: N,
  verb: Verb<N>,
  ids: readonly [string, ...string[]],
  more: Pick<Tool, 'title' | 'description' | 'core' | 'additive' | 'example' | 'lean'>,
): Tool => ({
  toolset: 'work',
  effect: 'write',
  by: 'anyone',
  name,
  aliases: { id: ids[0] },
  input: changeInputs[name],
  output: workResults[name],
  describeTarget(input) {
    const about = ids.map((id) => input[id]).find((id) => id !== undefined)
    return toCallTarget(input['project'] as string, about as string | undefined)
  },
  // Dispatch has parsed the input by the schema of this name.
  transact: (tx, input, call) => verb(tx, omitAgent(input, call) as ChangeInput<N>, call),
  ...more,
})

/** Tools that change work items; each is one transaction with its entry (W7, W8). */
export const changeTools = ({ stories, sprints, backlog, claims, resolve }: Work): Tool[] => [
  changeTool('worksync_add_backlog', backlog.addBacklog, ['item_id'], {
    title: 'Add to the backlog',
    description:
      'Add an idea or task to the backlog of a project, for later. The default item_id is made from the summary.',
    additive: true,
  }),
  changeTool('worksync_update_backlog', backlog.updateBacklog, ['item_id'], {
    title: 'Change a backlog item',
    description:
      'Change fields of a backlog item; null clears theme or priority. To replace its text, give text_sha256 of the text you read.',
    example: { project: 'web', item_id: 'dark-mode', status: 'in_progress' },
  }),
  changeTool('worksync_remove_backlog', backlog.removeBacklog, ['item_id'], {
    title: 'Remove a backlog item',
    description:
      'Remove an item from the backlog. The ledger keeps it; its text stays in BACKLOG/.',
    example: { project: 'web', item_id: 'dark-mode' },
  }),
  changeTool('worksync_create_sprint', sprints.createSprint, ['sprint_id'], {
    title: 'Create a sprint',
    description:
      'Create a sprint (time box) in a project; needs sprint_id and title. Then add stories with worksync_add_story.',
    additive: true,
    example: { project: 'web', sprint_id: 'sprint-1', title: 'Sprint 1' },
  }),
  changeTool('worksync_update_sprint', sprints.updateSprint, ['sprint_id'], {
    title: 'Change a sprint',
    description:
      'Change fields of a sprint. To complete one with open stories, set carry_to to the sprint that gets them; archive moves it to COMPLETE/.',
    example: { project: 'web', sprint_id: 'sprint-1', status: 'active' },
  }),
  changeTool('worksync_add_story', stories.addStory, ['story_id', 'sprint_id'], {
    title: 'Add a story',
    description:
      'Add a story (a task) to a sprint. Describe the task in title and notes. The default story_id is the next STORY-N.',
    additive: true,
    example: { project: 'web', sprint_id: 'sprint-1', title: 'Add a login page' },
  }),
  changeTool('worksync_update_story', stories.updateStory, ['story_id'], {
    title: 'Change a story',
    description:
      'Change fields of a story. notes replaces, append_notes adds; null clears priority or estimate. To finish one use worksync_done.',
    core: true,
    example: { project: 'web', story_id: 'STORY-1', status: 'in_progress' },
  }),
  changeTool('worksync_done', stories.done, ['story_id'], {
    title: 'Finish a story',
    description: 'Finish a story when its work is done: marks it done and adds a history entry.',
    core: true,
    example: { project: 'web', story_id: 'STORY-1' },
  }),
  changeTool('worksync_claim', claims.claim, ['story_id'], {
    title: 'Claim a story',
    description:
      'Claim a story before you work on it, so that no other agent does. Repeat before `until` to keep it; pass lease.fence to later changes.',
    core: true,
    example: { project: 'web', story_id: 'STORY-1' },
    lean(output) {
      const { story, ...rest } = output as z.output<typeof workResults.worksync_claim>
      // The result has the lease next to the story.
      const { lease: _, ...own } = story
      return { story: own, ...rest }
    },
  }),
  changeTool('worksync_release', claims.release, ['story_id'], {
    title: 'Release a story',
    description:
      'Release a claimed story if you stop working on it. Its status becomes planned unless you give one.',
    example: { project: 'web', story_id: 'STORY-1' },
  }),
  changeTool('worksync_comment', stories.comment, ['story_id', 'item_id'], {
    title: 'Add a comment',
    description:
      'Comment on a story or backlog item: progress, findings, questions. Comments cannot be edited.',
    core: true,
    additive: true,
    example: { project: 'web', story_id: 'STORY-1', text: 'Half of the work is done.' },
  }),
  changeTool('worksync_move', sprints.move, ['story_id', 'item_id'], {
    title: 'Move an item',
    description:
      'Move a story to another sprint, or turn a backlog item (item_id) into a story of a sprint.',
    example: { project: 'web', story_id: 'STORY-1', sprint_id: 'sprint-2' },
  }),
  changeTool('worksync_resolve', resolve, ['conflict_id'], {
    title: 'Resolve a conflict',
    description:
      'Resolve a conflict between a person’s edit of the file and an agent’s change: `ours` keeps the current value, `theirs` uses the file version.',
  }),
]
