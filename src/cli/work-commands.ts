import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import {
  clearable,
  itemKinds,
  priorities,
  sides,
  sprintStatuses,
  storyStatuses,
} from './choices.ts'
import { count, positive } from './option-kinds.ts'
import type { Add } from './program.ts'

const priority = () => new Option('--priority <priority>', 'how urgent').choices(priorities)
const estimate = () => new Option('--estimate <size>', 'how large').argParser(positive)
const needs = () => new Option('--needs <ids...>', 'stories that come before')
const paths = () => new Option('--paths <globs...>', 'files it is about')
const textFile = () =>
  new Option('--text-file <file>', 'the long text of a backlog item; - reads stdin')
const sprint = () => new Option('--sprint <id>', 'only in this sprint')
const storyStatus = () => new Option('--status <status>', 'where it stands').choices(storyStatuses)
const sprintStatus = () =>
  new Option('--status <status>', 'where it stands').choices(sprintStatuses)

/** The plan of work that agents and people share: sprints, stories, backlog. */
export function workCommands(program: Command, add: Add): void {
  const work = add(program, 'work', 'sprints, stories and backlog', async (context, command) =>
    (await import('./work/looking.ts')).workStatus(context, command.opts()),
  )
    .option('-p, --project <name>', 'which project; else the only one, or that of this folder')
    .addHelpText('after', '\nAlone it says where the work stands.')
  lookingCommands(work, add)
  addingCommands(work, add)
  storyCommands(work, add)
  keepingCommands(work, add)
}

function lookingCommands(work: Command, add: Add): void {
  add(work, 'status', 'where the work stands, in one project or all', async (context, command) =>
    (await import('./work/looking.ts')).workStatus(context, command.optsWithGlobals()),
  )
  add(work, 'board', 'the stories of a sprint, to move by keys', async (context, command) =>
    (await import('./work/board/board.ts')).board(context, command.optsWithGlobals()),
  )
    .option('--sprint <id>', 'this sprint (default: the active one)')
    .option('--list', 'print it, on a terminal too')
  add(work, 'list', 'stories, backlog and sprints', async (context, command) =>
    (await import('./work/listing.ts')).listItems(context, [], command.optsWithGlobals()),
  )
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(itemKinds))
    .addOption(sprint())
    .option('--status <status>', 'only with this status')
    .addOption(count(100))
  add(work, 'search <words...>', 'the same, by their words', async (context, command) =>
    (await import('./work/listing.ts')).listItems(context, command.args, command.optsWithGlobals()),
  )
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(itemKinds))
    .addOption(sprint())
    .option('--status <status>', 'only with this status')
    .addOption(count(50))
  add(work, 'ready', 'what can be begun, the most urgent first', async (context, command) =>
    (await import('./work/listing.ts')).listReady(context, command.optsWithGlobals()),
  )
    .addOption(sprint())
    .addOption(count(20))
  add(work, 'show <id>', 'one story, backlog item or sprint', async (context, command) =>
    (await import('./work/listing.ts')).showItem(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
  add(work, 'history', 'what was done, the newest first', async (context, command) =>
    (await import('./work/reading.ts')).workHistory(context, command.optsWithGlobals()),
  )
    .option('--add <text>', 'add this to it')
    .option('--sprint <ids...>', 'with --add: the sprints it belongs to')
    .addOption(count(50))
  add(
    work,
    'guidance [topic]',
    'what agents are told about working here',
    async (context, command) =>
      (await import('./work/reading.ts')).workGuidance(
        context,
        command.args[0],
        command.optsWithGlobals(),
      ),
  )
}

function addingCommands(work: Command, add: Add): void {
  add(work, 'add <summary...>', 'put something on the backlog', async (context, command) =>
    (await import('./work/changing.ts')).addToBacklog(
      context,
      command.args.join(' '),
      command.optsWithGlobals(),
    ),
  )
    .option('--id <id>', 'its id (default: made of the summary)')
    .option('--theme <name>', 'its theme')
    .addOption(priority())
    .addOption(textFile())
  add(work, 'story <sprint> <title...>', 'add a story to a sprint', async (context, command) => {
    const [into = '', ...title] = command.args
    const { addStory } = await import('./work/changing.ts')
    return addStory(context, { sprint: into, title: title.join(' ') }, command.optsWithGlobals())
  })
    .option('--id <id>', 'its id (default: the next STORY-N)')
    .addOption(priority())
    .addOption(estimate())
    .addOption(needs())
    .addOption(paths())
    .option('--notes <text>', 'what to know about it')
  add(work, 'sprint <id>', 'create a sprint', async (context, command) =>
    (await import('./work/changing.ts')).createSprint(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
    .option('--title <text>', 'what people call it')
    .addOption(sprintStatus())
    .option('--goal <text>', 'what it is for')
    .option('--themes <names...>', 'its themes')
    .option('--start <date>', 'such as 2027-03-01')
    .option('--end <date>', 'the same')
  add(
    work,
    'set <id>',
    'change fields of a story, backlog item or sprint',
    async (context, command) =>
      (await import('./work/setting.ts')).setItem(
        context,
        command.args[0] ?? '',
        command.optsWithGlobals(),
      ),
  )
    .option('--title <text>', 'of a backlog item its summary')
    .option('--status <status>', 'where it stands')
    .addOption(priority())
    .addOption(estimate())
    .option('--notes <text>', 'in place of those there are')
    .option('--append <text>', 'added to the notes')
    .addOption(needs())
    .addOption(paths())
    .option('--theme <name>', 'of a backlog item')
    .addOption(textFile())
    .option('--if-text <sha256>', 'only if its text is this one: text_sha256 of show --json')
    .option('--goal <text>', 'of a sprint')
    .option('--themes <names...>', 'of a sprint')
    .option('--start <date>', 'of a sprint')
    .option('--end <date>', 'of a sprint')
    .option('--carry-to <sprint>', 'with --status completed: takes the open stories')
    .option('--archive', 'of a sprint: move it to COMPLETE/')
    .addOption(new Option('--clear <fields...>', 'take these away').choices(clearable))
    .addOption(
      new Option('--if-rev <number>', 'only if it is at this revision').argParser(positive),
    )
}

function storyCommands(work: Command, add: Add): void {
  add(work, 'claim <id>', 'take a story for yourself, for a while', async (context, command) =>
    (await import('./work/changing.ts')).claimStory(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  ).addOption(
    new Option('--minutes <count>', 'for how long (default: work.lease_ttl)').argParser(positive),
  )
  add(work, 'release <id>', 'give it back', async (context, command) =>
    (await import('./work/changing.ts')).releaseStory(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  ).addOption(storyStatus())
  add(work, 'done <id>', 'finish a story, and put it into the history', async (context, command) =>
    (await import('./work/changing.ts')).finishStory(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
    .option('--summary <text>', 'for the history (default: its title)')
    .option('--notes <text>', 'added to its notes')
  add(
    work,
    'move <id> <sprint>',
    'a story to another sprint, or a backlog item into one',
    async (context, command) => {
      const [id = '', into = ''] = command.args
      const { moveItem } = await import('./work/changing.ts')
      return moveItem(context, { id, sprint: into }, command.optsWithGlobals())
    },
  )
  add(work, 'comment <id> <text...>', 'say something about it', async (context, command) => {
    const [id = '', ...text] = command.args
    const { commentOn } = await import('./work/changing.ts')
    return commentOn(context, { id, text: text.join(' ') }, command.optsWithGlobals())
  })
  add(work, 'remove <id>', 'take an item off the backlog', async (context, command) =>
    (await import('./work/changing.ts')).removeFromBacklog(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  )
  add(
    work,
    'resolve <conflict>',
    'end a conflict between the file and an agent',
    async (context, command) => {
      const [given = '', take = ''] = command.args
      const { resolveConflict } = await import('./work/keeping.ts')
      return resolveConflict(context, { given, take }, command.optsWithGlobals())
    },
  ).addArgument(new Argument('<take>', 'what stands, or what the file said').choices([...sides]))
}

function keepingCommands(work: Command, add: Add): void {
  add(work, 'projects [name]', 'which there are, or one of them', async (context, command) =>
    (await import('./work/looking.ts')).workProjects(context, command.args[0]),
  )
  add(work, 'register <name>', 'add a project', async (context, command) =>
    (await import('./work/keeping.ts')).registerProject(
      context,
      command.args[0] ?? '',
      command.opts(),
    ),
  )
    .option('--repo <folder>', 'its repository; guidance is read from there')
    .option('--description <text>', 'what it is')
    .option('--inherit <names...>', 'guidance it takes (default: general, ai-collaboration)')
  add(work, 'unregister <name>', 'forget a project; its files stay', async (context, command) =>
    (await import('./work/keeping.ts')).unregisterProject(
      context,
      command.args[0] ?? '',
      command.optsWithGlobals(),
    ),
  ).option('-y, --yes', 'without asking')
  add(work, 'sync', 'write the Obsidian vault', async (context, command) =>
    (await import('./work/keeping.ts')).syncVault(context, command.optsWithGlobals()),
  )
  add(work, 'verify', 'try every tool on a project made for it', async (context, command) =>
    (await import('./work/verify.ts')).verifyWork(context, command.opts()),
  ).option('--agent <name>', 'act with the token kept for this agent')
}
