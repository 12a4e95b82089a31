import { Option } from 'commander'
import type { Command } from 'commander'
import type { BulkFlags } from './bulk.ts'
import { approvalKinds, overrideTypes, risks, severities } from './choices.ts'
import { usage } from './exit.ts'
import { count, days, positive } from './option-kinds.ts'
import { notifyCommands, policyCommands } from './policy-commands.ts'
import type { Add } from './program.ts'

const ids = 'ids, or beginnings of them that fit one only'
const type = () => new Option('--type <type>', 'what was wrong').choices(overrideTypes)
const severity = () => new Option('--severity <severity>', 'how serious it is').choices(severities)
const atOnce = () => new Option('--now', 'not to be undone: several or high risk wait a moment')

/** Deciding what agents ask for, and what they are trusted with. */
export function governanceCommands(program: Command, add: Add): void {
  inboxCommands(program, add)
  decideCommands(program, add)
  handoffCommands(program, add)
  trustCommands(program, add)
  policyCommands(program, add)
  notifyCommands(program, add)
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
  add(program, 'approve', 'approve what waits', async (context, command) => {
    const { agent, domain, expect } = command.opts<BulkFlags>()
    if (command.args.length === 0)
      return (await import('./bulk.ts')).approveAll(context, command.opts())
    if ((agent ?? domain ?? expect) !== undefined)
      throw usage('Name ids, or --agent and --domain with --expect, not both.')
    return (await import('./decide.ts')).approve(context, command.args, command.opts())
  })
    .argument('[ids...]', ids)
    .option('--agent <id>', 'in place of ids: all proposals of this agent that wait')
    .option('--domain <name>', 'in place of ids: all proposals in this domain that wait')
    .addOption(
      new Option(
        '--expect <count>',
        'with them: how many that is, else nothing is approved',
      ).argParser(positive),
    )
    .option('--feedback <text>', 'what the agent should know')
    .option(
      '--allow <what>',
      'a call: once, session, always, uses:<n> or until:<time>; access: file-once, file, folder, folder-write, folder-session or until:<time>',
    )
    .option('--change <json>', 'approve this instead, as JSON or @file')
    .option('--policy <id>', 'for work in a new domain: under which policy')
    .option('--acknowledge-policy <version>', 'approve what this active policy version blocks')
    .option('--skip', 'a check: close it without looking at it, so that it counts for nothing')
    .addOption(atOnce())
  add(program, 'reject', 'reject what waits', async (context, command) =>
    (await import('./decide.ts')).reject(context, command.args, command.opts()),
  )
    .argument('<ids...>', ids)
    .addOption(type())
    .addOption(severity())
    .option('--reason <text>', 'why, for the agent')
    .option('--never', 'access: deny it, and do not be asked again')
    .addOption(atOnce())
    .addHelpText(
      'after',
      '\nA proposal needs --type: to reject one is to override it. Of a check of what was\ndone alone, agent_wrong marks it as wrong, and human_preference says that you\nwould have done it differently.',
    )
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

function handoffCommands(program: Command, add: Add): void {
  const handoff = add(
    program,
    'handoff',
    'what agents have handed over to people',
    async (context, command) => {
      const { listHandoffs } = await import('./handoff.ts')
      return listHandoffs(context, command.opts())
    },
  )
    .option('--all', 'those that were answered too')
    .option('--agent <id>', 'only of this agent')
    .option('--domain <name>', 'only in this domain')
    .addOption(count(100))
  add(handoff, 'show <id>', 'one of them, with what the agent tried', async (context, command) =>
    (await import('./inbox/inbox.ts')).showApproval(context, command.args[0] ?? '', 'handoff'),
  )
  add(handoff, 'resolve <id>', 'answer one, and hand it back or not', async (context, command) =>
    (await import('./handoff.ts')).resolveHandoff(context, command.args[0] ?? '', command.opts()),
  )
    .requiredOption('--resolution <text>', 'what you did or decided')
    .option('--hand-back', 'the agent goes on; so it does where there are instructions')
    .option('--instructions <text>', 'what the agent is to do')
    .option('--approve', 'approve the proposal it is about, in the same act')
    .option('--reject', 'reject the proposal it is about')
    .addOption(type())
    .addOption(severity())
    .option('--reason <text>', 'why the proposal is rejected')
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
    'set it by hand, from 0 to 1: 0.8 or more vouches for the agent',
    async (context, command) => {
      const [agent = '', domain = '', score = ''] = command.args
      const given = { agent, domain, score }
      return (await import('./trust.ts')).setTrust(context, given, command.opts())
    },
  )
    .requiredOption('--reason <text>', 'why, for whoever asks later')
    .addHelpText(
      'after',
      '\nWith 0.8 or more you vouch: the agent acts alone where the risk is low or\nnormal, until its first fault. Less opens nothing.',
    )
  add(
    trust,
    'forgive <agent> <domain>',
    'clear the strikes and the debt of an agent',
    async (context, command) => {
      const [agent = '', domain = ''] = command.args
      return (await import('./trust.ts')).forgive(context, { agent, domain }, command.opts())
    },
  )
    .addOption(
      new Option('--risk <risk>', 'in this class of risk').choices(risks).default('normal'),
    )
    .requiredOption('--reason <text>', 'why, for whoever asks later')
    .addHelpText('after', '\nIts credit begins at 0 again: it acts alone after 25 right actions.')
  add(
    program,
    'report',
    'what is wrong with how agents and people work together',
    async (context, command) => (await import('./report.ts')).report(context, command.opts()),
  )
    .addOption(days())
    .option('--agent <id>', 'only about this agent')
    .option('--domain <name>', 'only about this domain')
}
