import type { ToolName, ToolResults } from '#wire'
import { priorities, conflictSides, sprintStatuses, storyStatuses } from '../choices.ts'
import type { Client } from '../client.ts'
import { choice, command, list, parsePositiveInt, text, toolCommand, yes } from '../command.ts'
import type { Call, Entry, Options } from '../command.ts'
import { usageError } from '../exit.ts'
import { resolveFromCwd } from '../grants.ts'
import { resolvePrefix } from '../lookup.ts'
import { pluralize } from '../output.ts'
import { confirm } from '../terminal.ts'
import {
  readAgentClaim,
  findItem,
  readTextInput,
  projectNamed,
  resolveProject,
} from './requests.ts'
import { formatWorkStatus } from './item-lines.ts'
import type { ProjectStatus, Sprint, Story } from './wire.ts'

export const priority = () => choice('--priority <priority>', 'how urgent', priorities)
export const estimate = () => parsePositiveInt('--estimate <size>', 'how large')
export const needs = () => list('--needs <ids...>', 'stories that come before')
export const paths = () => list('--paths <globs...>', 'files it is about')
export const textFile = () =>
  text('--text-file <file>', 'the long text of a backlog item; - reads stdin')

type Changed = { readonly project: string }

/** The wire leaves the fields of an item open. */
const toStory = (item: { readonly id: string }) =>
  item as Pick<Story, 'id' | 'status' | 'sprint_id'>

function changeCommand<
  const Usage extends string,
  Name extends Extract<ToolName, `worksync_${string}`>,
  const Given extends Options = Record<never, never>,
>(spec: {
  readonly usage: Usage
  readonly summary: string
  readonly options?: Given
  readonly args?: NonNullable<Entry['args']>
  readonly tool: Name
  /** The fields besides the project. */
  readonly input: (call: Call<Usage, Given>, project: string) => object | Promise<object>
  readonly show: (answer: ToolResults[Name] & Changed, call: Call<Usage, Given>) => string
}): Entry {
  const { tool, input, ...rest } = spec
  return command<Usage, ToolResults[Name] & Changed, Given>({
    ...rest,
    async run(call) {
      const project = await resolveProject(call)
      const fields = { project, ...(await input(call, project)), ...readAgentClaim(call) }
      return Object.assign({ project }, await call.client.call(tool, fields))
    },
  })
}

/** Names a story or a backlog item as the tools do; of sprints it is said what they cannot. */
async function storyOrItem(
  { client, args: [id = ''] }: { readonly client: Client; readonly args: readonly string[] },
  project: string,
  sprintsCannot: string,
): Promise<object> {
  const { kind } = await findItem(client, project, id)
  if (kind === 'sprint') throw usageError(sprintsCannot)
  return { [kind === 'story' ? 'story_id' : 'item_id']: id }
}

export const addingCommands = [
  changeCommand({
    usage: 'add <summary...>',
    summary: 'put something on the backlog',
    options: {
      id: text('--id <id>', 'its id (default: made of the summary)'),
      theme: text('--theme <name>', 'its theme'),
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
    show: ({ item, project }) => `${item.id} is in the backlog of ${project}.`,
  }),
  changeCommand({
    usage: 'story <sprint> <title...>',
    summary: 'add a story to a sprint',
    options: {
      id: text('--id <id>', 'its id (default: the next STORY-N)'),
      priority: priority(),
      estimate: estimate(),
      needs: needs(),
      paths: paths(),
      notes: text('--notes <text>', 'what to know about it'),
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
    show: ({ story }) => `${story.id} is in ${toStory(story).sprint_id}.`,
  }),
  changeCommand({
    usage: 'sprint <id>',
    summary: 'create a sprint',
    options: {
      title: text('--title <text>', 'what people call it'),
      status: choice('--status <status>', 'where it stands', sprintStatuses),
      goal: text('--goal <text>', 'what it is for'),
      themes: list('--themes <names...>', 'its themes'),
      start: text('--start <date>', 'such as 2027-03-01'),
      end: text('--end <date>', 'the same'),
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
      `The sprint ${sprint.id} is ${formatWorkStatus((sprint as Sprint).status)} in ${project}.`,
  }),
]

export const storyCommands = [
  changeCommand({
    usage: 'claim <id>',
    summary: 'take a story for yourself, for a while',
    options: {
      minutes: parsePositiveInt('--minutes <count>', 'for how long (default: work.lease_ttl)'),
    },
    tool: 'worksync_claim',
    input: ({ args: [id], options: { minutes } }) => ({
      story_id: id,
      ttl_seconds: minutes && minutes * 60,
    }),
    show: ({ story, lease, renewed }) =>
      `${story.id} is ${renewed ? 'still ' : ''}yours until ${lease.until}.`,
  }),
  changeCommand({
    usage: 'release <id>',
    summary: 'give it back',
    options: { status: choice('--status <status>', 'where it stands', storyStatuses) },
    tool: 'worksync_release',
    input: ({ args: [id], options: { status } }) => ({ story_id: id, status }),
    show: ({ story }) => `${story.id} is nobody's, and ${formatWorkStatus(toStory(story).status)}.`,
  }),
  changeCommand({
    usage: 'done <id>',
    summary: 'finish a story, and put it into the history',
    options: {
      summary: text('--summary <text>', 'for the history (default: its title)'),
      notes: text('--notes <text>', 'added to its notes'),
    },
    tool: 'worksync_done',
    input: ({ args: [id], options: { summary, notes } }) => ({ story_id: id, summary, notes }),
    show: ({ story, history }) => `${story.id} is done. In the history: ${history.summary}`,
  }),
  // A backlog item becomes a story (W20).
  changeCommand({
    usage: 'move <id> <sprint>',
    summary: 'a story to another sprint, or a backlog item into one',
    tool: 'worksync_move',
    input: async (call, project) => ({
      ...(await storyOrItem(call, project, 'A sprint cannot be moved into a sprint.')),
      sprint_id: call.args[1],
    }),
    show: ({ story }, { args: [id] }) =>
      story.id === id
        ? `${story.id} is in ${toStory(story).sprint_id}.`
        : `${id} is ${story.id} in ${toStory(story).sprint_id}.`,
  }),
  changeCommand({
    usage: 'comment <id> <text...>',
    summary: 'say something about it',
    tool: 'worksync_comment',
    input: async (call, project) => ({
      ...(await storyOrItem(call, project, 'Only stories and backlog items have comments.')),
      text: call.args.slice(1).join(' '),
    }),
    show: ({ comments }, { args: [id] }) =>
      `${id} has ${comments === 1 ? 'a comment' : `${comments} comments`}.`,
  }),
  changeCommand({
    usage: 'remove <id>',
    summary: 'take an item off the backlog',
    tool: 'worksync_remove_backlog',
    input: ({ args: [id] }) => ({ item_id: id }),
    show: ({ removed, project }) => `${removed.id} is no longer in the backlog of ${project}.`,
  }),
]

/** Ends a conflict between an edit of the file and an agent's change (W5). */
export const resolveCommand = changeCommand({
  usage: 'resolve <conflict> <take>',
  summary: 'end a conflict between the file and an agent',
  args: { take: { about: 'what stands, or what the file said', choices: conflictSides } },
  tool: 'worksync_resolve',
  async input({ client, args: [given, take] }, project) {
    const { projects } = await client.call('worksync_status', { project })
    const conflicts = (projects as ProjectStatus[]).flatMap((one) => one.conflicts)
    const known = conflicts.map(({ id }) => id)
    // Of many only the first are told; the daemon knows the rest.
    const isTold = known.some((one) => one.startsWith(given))
    return { conflict_id: isTold ? resolvePrefix(given, known, 'conflict') : given, take }
  },
  show: (_, { args: [, take] }) =>
    take === 'ours' ? 'It stays as it stands.' : 'What the file said is what stands now.',
})

export const keepingCommands = [
  // With a repository, texts of it are read to agents from then on: a person says so.
  toolCommand({
    usage: 'register <name>',
    summary: 'add a project',
    options: {
      repo: text('--repo <folder>', 'its repository; guidance is read from there'),
      description: text('--description <text>', 'what it is'),
      inherit: list(
        '--inherit <names...>',
        'guidance it takes (default: general, ai-collaboration)',
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
    show: ({ project, folder }) => `${project} is kept in ${folder}.`,
  }),
  toolCommand({
    usage: 'unregister <name>',
    summary: 'forget a project; its files stay',
    options: { yes: yes('without asking') },
    person: 'Unregistering a project',
    tool: 'worksync_unregister_project',
    async input(call) {
      const [project] = call.args
      await confirm(`Take ${project} out of the registry? Its files stay.`, call.options)
      return { project, ...readAgentClaim(call) }
    },
    show: ({ project, folder }) => `${project} is no project any more. Its files are in ${folder}.`,
  }),
  // Writes the notes that changed (W18).
  toolCommand({
    usage: 'sync',
    summary: 'write the Obsidian vault',
    tool: 'worksync_sync',
    input: async (call) => ({ project: await projectNamed(call), ...readAgentClaim(call) }),
    show: ({ written, removed, notes, vault_path: folder }) =>
      `${written} of ${pluralize(notes, 'note')} written, ${removed} removed, in ${folder}.`,
  }),
]
