import type { ToolName, ToolResults } from '#wire'
import { priorities, conflictSides, sprintStatuses, storyStatuses } from '../choices.ts'
import type { Client } from '../client.ts'
import {
  choice,
  command,
  list,
  parsePositiveInt,
  text,
  toolCommand,
  yesOption,
} from '../command.ts'
import type { Call, CommandSpec, Options } from '../command.ts'
import { usageError } from '../exit.ts'
import { resolveFromCwd } from '../grants.ts'
import { resolvePrefix } from '../lookup.ts'
import { pluralize } from '../output.ts'
import { confirm } from '../terminal.ts'
import {
  readAgentClaim,
  findItem,
  readTextInput,
  resolveProjectOption,
  resolveProject,
} from './requests.ts'
import { formatWorkStatus } from './item-lines.ts'
import type { ProjectStatus, Sprint, Story } from './wire.ts'

export const priority = () => choice('--priority <priority>', 'priority of the item', priorities)
export const estimate = () => parsePositiveInt('--estimate <size>', 'size estimate')
export const dependsOn = () => list('--needs <ids...>', 'stories it depends on')
export const paths = () => list('--paths <globs...>', 'files it changes')
export const textFile = () => text('--text-file <file>', 'text of the backlog item; - reads stdin')

type ProjectResult = { readonly project: string }

/** Narrows an item, whose fields the wire schema leaves open. */
const asStory = (item: { readonly id: string }) =>
  item as Pick<Story, 'id' | 'status' | 'sprint_id'>

function changeCommand<
  const Usage extends string,
  Name extends Extract<ToolName, `worksync_${string}`>,
  const Given extends Options = Record<never, never>,
>(spec: {
  readonly usage: Usage
  readonly summary: string
  readonly options?: Given
  readonly args?: NonNullable<CommandSpec['args']>
  readonly tool: Name
  /** Builds the input without the project. */
  readonly input: (call: Call<Usage, Given>, project: string) => object | Promise<object>
  readonly show: (answer: ToolResults[Name] & ProjectResult, call: Call<Usage, Given>) => string
}): CommandSpec {
  const { tool, input, ...rest } = spec
  return command<Usage, ToolResults[Name] & ProjectResult, Given>({
    ...rest,
    async run(call) {
      const project = await resolveProject(call)
      const fields = { project, ...(await input(call, project)), ...readAgentClaim(call) }
      return Object.assign({ project }, await call.client.call(tool, fields))
    },
  })
}

/** Finds the id argument of a story or backlog item; throws for a sprint. */
async function findStoryOrItem(
  { client, args: [id = ''] }: { readonly client: Client; readonly args: readonly string[] },
  project: string,
  sprintMessage: string,
): Promise<object> {
  const { kind } = await findItem(client, project, id)
  if (kind === 'sprint') throw usageError(sprintMessage)
  return { [kind === 'story' ? 'story_id' : 'item_id']: id }
}

export const addCommands = [
  changeCommand({
    usage: 'add <summary...>',
    summary: 'add a backlog item',
    options: {
      id: text('--id <id>', 'id (default: made from the summary)'),
      theme: text('--theme <name>', 'theme of the item'),
      priority: priority(),
      textFile: textFile(),
    },
    tool: 'worksync_add_backlog',
    input: async ({ args, options }) => ({
      summary: args.join(' '),
      item_id: options.id,
      theme: options.theme,
      priority: options.priority,
      text: options.textFile === undefined ? undefined : await readTextInput(options.textFile),
    }),
    show: ({ item, project }) => `Added ${item.id} to the backlog of ${project}.`,
  }),
  changeCommand({
    usage: 'story <sprint> <title...>',
    summary: 'add a story to a sprint',
    options: {
      id: text('--id <id>', 'id (default: the next STORY-N)'),
      priority: priority(),
      estimate: estimate(),
      needs: dependsOn(),
      paths: paths(),
      notes: text('--notes <text>', 'notes of the story'),
    },
    tool: 'worksync_add_story',
    input: ({ args: [sprint, ...title], options }) => ({
      sprint_id: sprint,
      title: title.join(' '),
      story_id: options.id,
      priority: options.priority,
      estimate: options.estimate,
      depends_on: options.needs,
      paths: options.paths,
      notes: options.notes,
    }),
    show: ({ story }) => `Added ${story.id} to ${asStory(story).sprint_id}.`,
  }),
  changeCommand({
    usage: 'sprint <id>',
    summary: 'create a sprint',
    options: {
      title: text('--title <text>', 'title of the sprint'),
      status: choice('--status <status>', 'status of the sprint', sprintStatuses),
      goal: text('--goal <text>', 'goal of the sprint'),
      themes: list('--themes <names...>', 'themes of the sprint'),
      start: text('--start <date>', 'first day, such as 2027-03-01'),
      end: text('--end <date>', 'last day'),
    },
    tool: 'worksync_create_sprint',
    input: ({ args: [id], options: { title, status, goal, themes, start, end } }) => ({
      sprint_id: id,
      title,
      status,
      goal,
      themes,
      start,
      end,
    }),
    show: ({ sprint, project }) =>
      `Created sprint ${sprint.id} in ${project} (${formatWorkStatus((sprint as Sprint).status)}).`,
  }),
]

export const storyCommands = [
  changeCommand({
    usage: 'claim <id>',
    summary: 'claim a story or renew a claim',
    options: {
      minutes: parsePositiveInt('--minutes <count>', 'duration (default: work.lease_ttl)'),
    },
    tool: 'worksync_claim',
    input: ({ args: [id], options: { minutes } }) => ({
      story_id: id,
      ttl_seconds: minutes && minutes * 60,
    }),
    show: ({ story, lease, renewed }) =>
      `${renewed ? 'Renewed' : 'Claimed'} ${story.id} until ${lease.until}.`,
  }),
  changeCommand({
    usage: 'release <id>',
    summary: 'release a claimed story',
    options: {
      status: choice('--status <status>', 'new status (default: planned)', storyStatuses),
    },
    tool: 'worksync_release',
    input: ({ args: [id], options: { status } }) => ({ story_id: id, status }),
    show: ({ story }) => `Released ${story.id} (${formatWorkStatus(asStory(story).status)}).`,
  }),
  changeCommand({
    usage: 'done <id>',
    summary: 'finish a story and add it to the history',
    options: {
      summary: text('--summary <text>', 'history entry (default: the title)'),
      notes: text('--notes <text>', 'text to append to the notes'),
    },
    tool: 'worksync_done',
    input: ({ args: [id], options: { summary, notes } }) => ({ story_id: id, summary, notes }),
    show: ({ story, history }) => `Completed ${story.id}. History: ${history.summary}`,
  }),
  // Turns a backlog item into a story (W20).
  changeCommand({
    usage: 'move <id> <sprint>',
    summary: 'move a story or backlog item into a sprint',
    tool: 'worksync_move',
    input: async (call, project) => ({
      ...(await findStoryOrItem(call, project, 'Cannot move a sprint into a sprint.')),
      sprint_id: call.args[1],
    }),
    show: ({ story }, { args: [id] }) =>
      story.id === id
        ? `Moved ${story.id} to ${asStory(story).sprint_id}.`
        : `Moved ${id} to ${asStory(story).sprint_id} as ${story.id}.`,
  }),
  changeCommand({
    usage: 'comment <id> <text...>',
    summary: 'comment on a story or backlog item',
    tool: 'worksync_comment',
    input: async (call, project) => ({
      ...(await findStoryOrItem(call, project, 'Only stories and backlog items have comments.')),
      text: call.args.slice(1).join(' '),
    }),
    show: ({ comments }, { args: [id] }) =>
      `${id} has ${comments === 1 ? 'a comment' : `${comments} comments`}.`,
  }),
  changeCommand({
    usage: 'remove <id>',
    summary: 'remove a backlog item',
    tool: 'worksync_remove_backlog',
    input: ({ args: [id] }) => ({ item_id: id }),
    show: ({ removed, project }) => `Removed ${removed.id} from the backlog of ${project}.`,
  }),
]

/** Resolves a conflict between an edit of the file and an agent's change (W5). */
export const resolveCommand = changeCommand({
  usage: 'resolve <conflict> <take>',
  summary: 'resolve a conflict',
  args: {
    take: {
      about: 'ours keeps the current value, theirs uses the file version',
      choices: conflictSides,
    },
  },
  tool: 'worksync_resolve',
  async input({ client, args: [requestedId, take] }, project) {
    const { projects } = await client.call('worksync_status', { project })
    const conflicts = (projects as ProjectStatus[]).flatMap((one) => one.conflicts)
    const known = conflicts.map(({ id }) => id)
    // The status lists only the first conflicts, so pass on an unknown id.
    const isListed = known.some((one) => one.startsWith(requestedId))
    return {
      conflict_id: isListed ? resolvePrefix(requestedId, known, 'conflict') : requestedId,
      take,
    }
  },
  show: (_, { args: [, take] }) =>
    take === 'ours' ? 'Kept the current value.' : 'Applied the file version.',
})

export const projectCommands = [
  // A repository opens its guidance to agents, so a person must confirm.
  toolCommand({
    usage: 'register <name>',
    summary: 'add a project',
    options: {
      repo: text('--repo <folder>', 'repository folder; agents read guidance from it'),
      description: text('--description <text>', 'short description'),
      inherit: list(
        '--inherit <names...>',
        'foundational guidance (default: general, ai-collaboration)',
      ),
    },
    tool: 'worksync_register_project',
    async input(call) {
      const { repo, description, inherit } = call.options
      if (repo !== undefined) await call.person('Registering a project with a repository')
      return {
        project: call.args[0],
        repo: repo === undefined ? undefined : resolveFromCwd(repo),
        description,
        guidance: inherit && { inherit },
        ...readAgentClaim(call),
      }
    },
    show: ({ project, folder }) => `Registered ${project} in ${folder}.`,
  }),
  toolCommand({
    usage: 'unregister <name>',
    summary: 'unregister a project; its files stay',
    options: { yes: yesOption('skip the confirmation') },
    person: 'Unregistering a project',
    tool: 'worksync_unregister_project',
    async input(call) {
      const [project] = call.args
      await confirm(`Unregister ${project}? Its files stay on disk.`, call.options)
      return { project, ...readAgentClaim(call) }
    },
    show: ({ project, folder }) => `Unregistered ${project}. Its files are in ${folder}.`,
  }),
  // Writes the notes that changed (W18).
  toolCommand({
    usage: 'sync',
    summary: 'write the Obsidian vault',
    tool: 'worksync_sync',
    input: async (call) => ({ project: await resolveProjectOption(call), ...readAgentClaim(call) }),
    show: ({ written, removed, notes, vault_path: folder }) =>
      `Wrote ${written} of ${pluralize(notes, 'note')} and removed ${removed} in ${folder}.`,
  }),
]
