import type { Command } from 'commander'
import { count, days } from './option-kinds.ts'
import type { Add } from './program.ts'

/** The rules agents work under: what they say, would say, and said before. */
export function policyCommands(program: Command, add: Add): void {
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
  trying(
    add(
      policy,
      'simulate',
      'what other policies would say to a proposal, or to all there were',
      async (context, command) =>
        (await import('./policy-simulate.ts')).simulatePolicy(context, command.opts()),
    ),
  ).option(
    '--proposal <json>',
    'agent_id, domain, proposed_change and, if you like, field and trust_level; or @file',
  )
  trying(
    add(
      policy,
      'replay',
      'what other policies would have changed in the last days',
      async (context, command) =>
        (await import('./policy-simulate.ts')).replayPolicy(context, command.opts()),
    ),
  )
    .addOption(days())
    .option('--agent <id>', 'only of this agent')
    .option('--domain <name>', 'only in this domain')
  versionCommands(policy, add)
  const permissions = add(
    program,
    'permissions',
    'what is allowed for longer than once',
    async (context) => (await import('./permissions.ts')).listPermissions(context),
  )
  add(permissions, 'revoke <id>', 'take one back', async (context, command) =>
    (await import('./permissions.ts')).revokePermission(context, command.args[0] ?? ''),
  )
}

const trying = (command: Command) =>
  command
    .option('--file <file>', 'policies and mappings to try, as in cowork.yaml, or as JSON')
    .option('--saved <version>', 'or a version there was')
    .option('--policy <id>', 'or a policy in force, as if it were mapped everywhere')

function versionCommands(policy: Command, add: Add): void {
  add(
    policy,
    'versions [version]',
    'the versions there were, or what one of them says',
    async (context, command) =>
      (await import('./policy-versions.ts')).policyVersions(context, command.args[0]),
  )
  add(
    policy,
    'diff <from> [to]',
    'what differs between two versions, or from --file',
    async (context, command) =>
      (await import('./policy-versions.ts')).policyDiff(context, command.args, command.opts()),
  )
    .option('--file <file>', 'compare with this in place of a version')
    .addHelpText('after', '\nA version is named by its beginning, its number, or active.')
  add(policy, 'save', 'put a file in force', async (context, command) =>
    (await import('./policy-versions.ts')).savePolicies(context, command.opts()),
  )
    .requiredOption('--file <file>', 'policies and mappings, as in cowork.yaml, or as JSON')
    .requiredOption('--note <text>', 'why, for whoever reads the history')
    .option('--from <version>', 'refuse where another was saved since this one')
    .option('--confirm', 'also where agents that worked lately could propose nothing any more')
}

export function notifyCommands(program: Command, add: Add): void {
  const notify = program.command('notify').description('what is told to other channels')
  add(notify, 'deliveries', 'what was sent, and what could not be', async (context, command) =>
    (await import('./notify.ts')).listDeliveries(context, command.opts()),
  )
    .option('--dead', 'only what failed for good')
    .addOption(count(100))
  add(notify, 'retry <id>', 'send again what failed for good', async (context, command) =>
    (await import('./notify.ts')).retryDelivery(context, command.args[0] ?? ''),
  )
  add(notify, 'test <channel>', 'send a test notice now', async (context, command) =>
    (await import('./notify.ts')).testChannel(context, command.args[0] ?? ''),
  )
  add(
    notify,
    'bind <channel>',
    'a code that binds a Telegram chat to you',
    async (context, command) =>
      (await import('./notify.ts')).bindChat(context, command.args[0] ?? ''),
  )
}
