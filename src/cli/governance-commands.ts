import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { approvalKinds, overrideTypes, severities } from './choices.ts'
import type { Add } from './program.ts'

const ids = 'ids, or beginnings of them that fit one only'
const type = () => new Option('--type <type>', 'what was wrong').choices(overrideTypes)
const severity = () => new Option('--severity <severity>', 'how serious it is').choices(severities)
const atOnce = () => new Option('--now', 'not to be undone: several or high risk wait a moment')
const count = (lines: number) =>
  new Option('-n, --lines <count>', 'how many').argParser(positive).default(lines)

/** Deciding what agents ask for, and what they are trusted with. */
export function governanceCommands(program: Command, add: Add): void {
  inboxCommands(program, add)
  decideCommands(program, add)
  trustCommands(program, add)
  policyCommands(program, add)
}

function inboxCommands(program: Command, add: Add): void {
  const inbox = add(
    program,
    'inbox',
    'what waits for you: decide it by keys, or list it',
    async (context, command) => {
      const { inbox: all, showApproval } = await import('./inbox/inbox.ts')
      const [id] = command.args
      return id === undefined ? all(context, command.optsWithGlobals()) : showApproval(context, id)
    },
  )
    .argument('[id]', 'show this one')
    .option('--list', 'print the list, on a terminal too')
    .option('--all', 'list what was decided too')
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(approvalKinds))
    .option('--agent <id>', 'only of this agent')
    .option('--domain <name>', 'only in this domain')
    .addOption(count(100))
  add(inbox, 'show <id>', 'one of them, with why it is asked', async (context, command) =>
    (await import('./inbox/inbox.ts')).showApproval(context, command.args[0] ?? ''),
  )
}

function decideCommands(program: Command, add: Add): void {
  add(program, 'approve', 'approve what waits', async (context, command) =>
    (await import('./decide.ts')).approve(context, command.args, command.opts()),
  )
    .argument('<ids...>', ids)
    .option('--feedback <text>', 'what the agent should know')
    .option('--allow <how-long>', 'a call: once, session, always, uses:<n> or until:<time>')
    .option('--change <json>', 'approve this instead, as JSON or @file')
    .option('--policy <id>', 'for work in a new domain: under which policy')
    .addOption(atOnce())
  add(program, 'reject', 'reject what waits', async (context, command) =>
    (await import('./decide.ts')).reject(context, command.args, command.opts()),
  )
    .argument('<ids...>', ids)
    .addOption(type())
    .addOption(severity())
    .option('--reason <text>', 'why, for the agent')
    .addOption(atOnce())
    .addHelpText('after', '\nA proposal needs --type: to reject one is to override it.')
  add(program, 'undo', 'take back decisions that are still held', async (context, command) =>
    (await import('./decide.ts')).undo(context, command.args),
  ).argument('<ids...>', ids)
  add(
    program,
    'override <agent> <domain>',
    'correct an agent, also afterwards',
    async (context, command) => {
      const [agent = '', domain = ''] = command.args
      return (await import('./override.ts')).override(context, agent, domain, command.opts())
    },
  )
    .addOption(type().makeOptionMandatory())
    .addOption(severity().default('medium'))
    .requiredOption('--description <text>', 'what should have been')
    .option('--action <text>', 'what the agent did (default: the description)')
    .option('--proposal <id>', 'the proposal it is about')
}

function trustCommands(program: Command, add: Add): void {
  const trust = add(
    program,
    'trust [agent] [domain]',
    'how far agents are trusted, and why',
    async (context, command) =>
      (await import('./trust.ts')).trust(context, command.args[0], command.args[1]),
  )
  add(
    trust,
    'set <agent> <domain> <score>',
    'set it by hand, from 0 to 1',
    async (context, command) => {
      const [agent = '', domain = '', score = ''] = command.args
      const given = { agent, domain, score }
      return (await import('./trust.ts')).setTrust(context, given, command.opts())
    },
  ).requiredOption('--reason <text>', 'why, for whoever asks later')
}

function policyCommands(program: Command, add: Add): void {
  const policy = program.command('policy').description('the rules agents propose under')
  add(
    policy,
    'check <agent> <domain>',
    'what they say to a change, without proposing it',
    async (context, command) => {
      const [agent = '', domain = ''] = command.args
      return (await import('./policy.ts')).checkPolicy(context, agent, domain, command.opts())
    },
  )
    .option('--field <name>', 'the field it is about')
    .option('--value <value>', 'the value it is to have')
    .option('--change <json>', 'the whole change, as JSON or @file')
  add(policy, 'list', 'policies, and who works where under which', async (context) =>
    (await import('./policy.ts')).listPolicies(context),
  )
  const permissions = add(
    program,
    'permissions',
    'what is allowed for longer than once',
    async (context) => (await import('./permissions.ts')).listPermissions(context),
  )
  add(permissions, 'revoke <id>', 'take one back', async (context, command) =>
    (await import('./permissions.ts')).revokePermission(context, command.args[0] ?? ''),
  )
  const notify = program.command('notify').description('what is told to other channels')
  add(notify, 'deliveries', 'what was sent, and what could not be', async (context, command) =>
    (await import('./notify.ts')).listDeliveries(context, command.opts()),
  )
    .option('--dead', 'only what failed for good')
    .addOption(count(100))
  add(notify, 'retry <id>', 'send again what failed for good', async (context, command) =>
    (await import('./notify.ts')).retryDelivery(context, command.args[0] ?? ''),
  )
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is not a positive number.')
  return Number(text)
}
