import type { ToolResults } from '#wire'
import type { Client } from './client.ts'
import { command, daysOption, flag, required, text, toolCommand } from './command.ts'
import type { Entry, Values } from './command.ts'
import { exitCode, usageError } from './exit.ts'
import { score } from './inbox/detail.ts'
import {
  resolveAgent,
  resolvePrefix,
  parseJsonArgument,
  parseValueArgument,
  readGiven,
} from './lookup.ts'
import {
  formatFields,
  sanitize,
  sanitizeLines,
  formatTable,
  tableOf,
  formatMinute,
} from './output.ts'

const read = (client: Client, asked: object = {}) =>
  client.call('cowork_policy_versions', { limit: 200, ...asked })

/** A version by its beginning, its number or `active`. */
export async function resolveVersion(client: Client, given: string): Promise<string> {
  const { active, versions } = await read(client)
  if (given === 'active') return active
  const numbered = versions.find(({ number }) => String(number) === given)
  const names = [...new Set(versions.map(({ version }) => version))]
  return numbered?.version ?? resolvePrefix(given, names, 'version')
}

export const versionCommands = [
  // The newest first; or what one of them says, as YAML (Y6).
  command({
    usage: 'versions [version]',
    summary: 'the versions there were, or what one of them says',
    run: async ({ client, args: [given] }) =>
      read(client, given === undefined ? {} : { version: await resolveVersion(client, given) }),
    show: ({ versions, text: said }, { args: [given] }) =>
      given === undefined
        ? tableOf(versions, '', {
            VERSION: ({ version }) => version,
            NO: ({ number }) => number,
            SINCE: ({ at }) => formatMinute(at),
            BY: ({ by }) => by,
            FROM: ({ source }) => (source === 'file' ? 'cowork.yaml' : 'saved'),
            // The same again has the same name: only the newest of them is in force.
            STATE: (one) => (one === versions[0] ? 'in force' : ''),
            NOTE: ({ note }) => note,
          })
        : sanitizeLines(said?.trimEnd() ?? ''),
  }),
  toolCommand({
    usage: 'diff <from> [to]',
    summary: 'what differs between two versions, or from --file',
    options: { file: text('--file <file>', 'compare with this in place of a version') },
    help: 'A version is named by its beginning, its number, or active.',
    check({ args: [, to], options: { file } }) {
      if ((to === undefined) === (file === undefined))
        throw usageError(
          'Compare with another version or with --file, one of them.',
          '`cowork policy diff 1 active` shows what changed since the first.',
        )
    },
    tool: 'cowork_policy_diff',
    input: async ({ client, args: [from, to], options: { file } }) => ({
      from: await resolveVersion(client, from),
      to: to === undefined ? undefined : await resolveVersion(client, to),
      body: file === undefined ? undefined : readPolicyFile(file),
    }),
    show: ({ changed, diff }) => (changed ? sanitizeLines(diff) : 'Nothing differs.'),
  }),
  // Says before what it would have changed (Y6).
  command({
    usage: 'save',
    summary: 'put a file in force',
    options: {
      file: required(text('--file <file>', 'policies and mappings, as in cowork.yaml, or as JSON')),
      note: required(text('--note <text>', 'why, for whoever reads the history')),
      from: text('--from <version>', 'refuse where another was saved since this one'),
      confirm: flag(
        '--confirm',
        'also where agents that worked lately could propose nothing any more',
      ),
    },
    person: 'Saving policies',
    words: {
      would_lock_out: {
        hint: 'Map them to a policy, or add --confirm if that is what you want. Nothing was saved.',
      },
    },
    async run({ client, out, options: { file, note, from: given, confirm = false } }) {
      const body = readPolicyFile(file)
      const from = given === undefined ? undefined : await resolveVersion(client, given)
      const { summary } = await client.call('cowork_simulate_policy', { body })
      out.note(`On what agents did in the last 30 days: ${summary}.`)
      return client.call('cowork_save_policies', { body, note, confirm, from })
    },
    show: ({ message }) => message,
    notes: ({ changed, from, version }) =>
      changed ? [`\`cowork policy diff ${from} ${version}\` shows what changed.`] : [],
  }),
]

/** The text as it stands there: the daemon judges it by the words of cowork.yaml, also where it is JSON. */
const readPolicyFile = (file: string): string =>
  readGiven(file, 'Check the path given with --file.')

type Answer = ToolResults['cowork_simulate_policy']
type Having<Field extends keyof Answer> = Answer & Required<Pick<Answer, Field>>

type Simulated = Having<'before' | 'after'>
type Replayed = Having<'table' | 'days' | 'replayed' | 'unchanged' | 'skipped' | 'truncated'>

/** What is tried: a file, a version there was, or a policy in force as if it were mapped everywhere. */
const tried = {
  file: text('--file <file>', 'policies and mappings to try, as in cowork.yaml, or as JSON'),
  saved: text('--saved <version>', 'or a version there was'),
  policy: text('--policy <id>', 'or a policy in force, as if it were mapped everywhere'),
}
type Tried = Values<typeof tried>

async function triedBy(client: Client, { file, saved, policy }: Tried): Promise<object> {
  if ([file, saved, policy].filter((given) => given !== undefined).length !== 1)
    throw usageError('Say what to try: --file, --saved or --policy, one of them.')
  if (file !== undefined) return { body: readPolicyFile(file) }
  return saved === undefined
    ? { policy_id: policy }
    : { version: await resolveVersion(client, saved) }
}

/** What other policies would have made of all that was proposed and called, with the trust of that time. */
const replay = async (client: Client, options: Tried, more: object): Promise<Replayed> =>
  (await client.call('cowork_simulate_policy', {
    ...(await triedBy(client, options)),
    ...more,
  })) as Replayed

const isSimulated = (found: Simulated | Replayed): found is Simulated => 'after' in found

const tryCommands = [
  // To one proposal; to all of the last month where none is given (Y6).
  command({
    usage: 'simulate',
    summary: 'what other policies would say to a proposal, or to all there were',
    options: {
      ...tried,
      proposal: text(
        '--proposal <json>',
        'agent_id, domain, proposed_change and, if you like, field and trust_level; or @file',
      ),
    },
    run: async ({ client, options }): Promise<Simulated | Replayed> =>
      options.proposal === undefined
        ? replay(client, options, { days: 30 })
        : ((await client.call('cowork_simulate_policy', {
            proposal: parseJsonArgument('--proposal', options.proposal),
            ...(await triedBy(client, options)),
          })) as Simulated),
    show: (found) => (isSimulated(found) ? simulatedLines(found) : replayLines(found)),
    notes: (found) => (isSimulated(found) ? [] : truncatedNotes(found)),
    exit: (found) =>
      isSimulated(found) && found.after.mode === 'blocked' ? exitCode.denied : exitCode.ok,
  }),
  command({
    usage: 'replay',
    summary: 'what other policies would have changed in the last days',
    options: {
      ...tried,
      days: daysOption(),
      agent: text('--agent <id>', 'only of this agent'),
      domain: text('--domain <name>', 'only in this domain'),
    },
    run: async ({ client, options }) =>
      replay(client, options, {
        days: options.days,
        agent_id: await resolveAgent(client, options.agent),
        domain: options.domain,
      }),
    show: replayLines,
    notes: truncatedNotes,
  }),
]

function truncatedNotes({ truncated }: Replayed): string[] {
  return truncated ? ['There is more on record: fewer --days show all of it.'] : []
}

function simulatedLines({ summary, before, after }: Simulated): string[] {
  return [
    summary,
    ...formatFields({
      policy: `${sanitize(before.policy_id ?? 'none')} → ${sanitize(after.policy_id ?? 'none')}`,
      trust: score(after.trust_level),
      approvers: `${before.approvers} → ${after.approvers}`,
      'high risk': sanitize(after.high_risk_fields.join(', ')) || undefined,
    }),
    ...violationLines(after.violations),
  ]
}

function replayLines(found: Replayed): string[] {
  const { summary, replayed, unchanged, skipped, days: past } = found
  const rows = found.table.flatMap(({ from, to, count, examples }) =>
    examples.map((one, at) => [
      ...(at === 0 ? [count, `${from}→${to}`] : ['', '']),
      sanitize(one.agent_id),
      sanitize(one.domain),
      one.kind,
      sanitize(one.action),
      one.seq ?? '–',
    ]),
  )
  const unknown = skipped > 0 ? `, ${skipped} on record without what is needed to tell` : ''
  return [
    summary,
    `${replayed} replayed of the last ${past} ${past === 1 ? 'day' : 'days'}, ${unchanged} as they were${unknown}.`,
    ...(rows.length > 0
      ? [
          '',
          ...formatTable(['COUNT', 'CHANGE', 'AGENT', 'DOMAIN', 'KIND', 'SUCH AS', 'ENTRY'], rows),
        ]
      : []),
  ]
}

const violationLines = (violations: Simulated['after']['violations']): string[] =>
  violations.map(({ severity, field, reason, rule_id: rule }) =>
    sanitize(`  ${severity}  ${field}: ${reason} (rule ${rule})`),
  )

export const policyCommand: Entry = {
  usage: 'policy',
  summary: 'the rules agents propose under',
  commands: [
    // Before anybody proposes the change (Y5).
    toolCommand({
      usage: 'check <agent> <domain>',
      summary: 'what they say to a change, without proposing it',
      options: {
        field: text('--field <name>', 'the field it is about'),
        value: text('--value <value>', 'the value it is to have'),
        change: text('--change <json>', 'the whole change, as JSON or @file'),
      },
      check({ options: { field, value, change } }) {
        if (value !== undefined && field === undefined)
          throw usageError('--value is the value of a field.', 'Add --field.')
        if (value !== undefined && change !== undefined)
          throw usageError('--value and --change say the same twice.', 'Use one of them.')
      },
      tool: 'cowork_validate_policy',
      input: ({ args: [agent, domain], options: { field, value, change } }) => ({
        agent_id: agent,
        domain,
        field,
        proposed_value: value === undefined ? undefined : parseValueArgument(value),
        proposed_change: change === undefined ? undefined : parseJsonArgument('--change', change),
      }),
      show: verdictLines,
      exit: ({ hard_stop: isBlocked }) => (isBlocked ? exitCode.denied : exitCode.ok),
    }),
    toolCommand({
      usage: 'list',
      summary: 'policies, and who works where under which',
      tool: 'cowork_list_policies',
      show: ({ policies, mappings }) => [
        ...tableOf(policies, 'There are no policies: write some into the configuration.', {
          POLICY: ({ id }) => id,
          MODE: ({ mode }) => mode,
          RULES: ({ rules }) => rules,
          ABOUT: ({ description }) => description,
        }),
        '',
        ...tableOf(mappings, 'There are no mappings: agents may propose in any domain.', {
          AGENT: (one) => one.agent_id,
          DOMAIN: (one) => one.domain,
          POLICY: (one) => one.policy_id,
          FROM: (one) => one.source,
        }),
      ],
    }),
    ...tryCommands,
    ...versionCommands,
  ],
}

function verdictLines(verdict: ToolResults['cowork_validate_policy']): string[] {
  const { policy_id: id, policy_description: about, mapping_found: isMapped } = verdict
  return [
    sanitize(verdict.message),
    ...violationLines(verdict.violations),
    id === null
      ? `No policy ${isMapped ? 'applies' : 'is mapped to this agent and domain'}.`
      : `Policy ${sanitize(id)}${about ? `: ${sanitize(about)}` : ''} (${verdict.policy_rules_checked} rules checked).`,
  ]
}
