import type { ToolResults } from '#wire'
import type { Client } from './client.ts'
import { command, daysOption, flag, required, text, toolCommand } from './command.ts'
import type { CommandSpec, Values } from './command.ts'
import { exitCode, usageError } from './exit.ts'
import { formatScore } from './inbox/detail.ts'
import {
  resolveAgent,
  resolvePrefix,
  parseJsonArgument,
  parseValueArgument,
  readArgumentFile,
} from './lookup.ts'
import {
  formatFields,
  sanitize,
  sanitizeLines,
  formatTable,
  formatRows,
  formatMinute,
} from './output.ts'

const readVersions = (client: Client, query: object = {}) =>
  client.call('cowork_policy_versions', { limit: 200, ...query })

/** Finds a version by prefix, number or `active`. */
export async function resolveVersion(client: Client, given: string): Promise<string> {
  const { active, versions } = await readVersions(client)
  if (given === 'active') return active
  const numbered = versions.find(({ number }) => String(number) === given)
  const names = [...new Set(versions.map(({ version }) => version))]
  return numbered?.version ?? resolvePrefix(given, names, 'version')
}

export const versionCommands = [
  // Lists versions, newest first; with an argument, prints one as YAML (Y6).
  command({
    usage: 'versions [version]',
    summary: 'list policy versions, or print one',
    run: async ({ client, args: [given] }) =>
      readVersions(
        client,
        given === undefined ? {} : { version: await resolveVersion(client, given) },
      ),
    show: ({ versions, text: body }, { args: [given] }) =>
      given === undefined
        ? formatRows(versions, '', {
            VERSION: ({ version }) => version,
            NO: ({ number }) => number,
            SINCE: ({ at }) => formatMinute(at),
            BY: ({ by }) => by,
            FROM: ({ source }) => (source === 'file' ? 'cowork.yaml' : 'saved'),
            // Equal documents have the same version name: only the newest of them is active.
            STATE: (row) => (row === versions[0] ? 'active' : ''),
            NOTE: ({ note }) => note,
          })
        : sanitizeLines(body?.trimEnd() ?? ''),
  }),
  toolCommand({
    usage: 'diff <from> [to]',
    summary: 'compare two versions, or a version with a file',
    options: { file: text('--file <file>', 'compare with this file instead of a version') },
    help: 'Name a version by a prefix, its number, or "active".',
    check({ args: [, to], options: { file } }) {
      if ((to === undefined) === (file === undefined))
        throw usageError(
          'Pass either a second version or --file.',
          'For example: `cowork policy diff 1 active`.',
        )
    },
    tool: 'cowork_policy_diff',
    input: async ({ client, args: [from, to], options: { file } }) => ({
      from: await resolveVersion(client, from),
      to: to === undefined ? undefined : await resolveVersion(client, to),
      body: file === undefined ? undefined : readPolicyFile(file),
    }),
    show: ({ changed, diff }) => (changed ? sanitizeLines(diff) : 'No differences.'),
  }),
  // First prints what the policies would have changed (Y6).
  command({
    usage: 'save',
    summary: 'activate policies from a file',
    options: {
      file: required(text('--file <file>', 'policies and mappings, as YAML or JSON')),
      note: required(text('--note <text>', 'reason, shown in the history')),
      from: text('--from <version>', 'refuse if a newer version than this one exists'),
      confirm: flag('--confirm', 'save even if active agents could no longer propose'),
    },
    person: 'Saving policies',
    messages: {
      would_lock_out: {
        hint: 'Map them to a policy, or add --confirm. Nothing was saved.',
      },
    },
    async run({ client, out, options: { file, note, from: given, confirm = false } }) {
      const body = readPolicyFile(file)
      const from = given === undefined ? undefined : await resolveVersion(client, given)
      const { summary } = await client.call('cowork_simulate_policy', { body })
      out.note(`Effect on the last 30 days: ${summary}.`)
      return client.call('cowork_save_policies', { body, note, confirm, from })
    },
    show: ({ message }) => message,
    notes: ({ changed, from, version }) =>
      changed ? [`Run \`cowork policy diff ${from} ${version}\` to see the change.`] : [],
  }),
]

/** Reads the file unchanged: the daemon parses it as YAML, also if it is JSON. */
const readPolicyFile = (file: string): string =>
  readArgumentFile(file, 'Check the path after --file.')

type Answer = ToolResults['cowork_simulate_policy']
type WithFields<Field extends keyof Answer> = Answer & Required<Pick<Answer, Field>>

type SimulationResult = WithFields<'before' | 'after'>
type ReplayResult = WithFields<
  'table' | 'days' | 'replayed' | 'unchanged' | 'skipped' | 'truncated'
>

/** Candidate policies: a file, a saved version, or an active policy mapped to all domains. */
const candidateOptions = {
  file: text('--file <file>', 'simulate policies and mappings of this file (YAML or JSON)'),
  saved: text('--saved <version>', 'or simulate a saved version'),
  policy: text('--policy <id>', 'or simulate an active policy, mapped to all domains'),
}
type CandidateFlags = Values<typeof candidateOptions>

async function readCandidate(
  client: Client,
  { file, saved, policy }: CandidateFlags,
): Promise<object> {
  if ([file, saved, policy].filter((value) => value !== undefined).length !== 1)
    throw usageError('Pass one of --file, --saved and --policy.')
  if (file !== undefined) return { body: readPolicyFile(file) }
  return saved === undefined
    ? { policy_id: policy }
    : { version: await resolveVersion(client, saved) }
}

/** Replays recorded proposals and calls under candidate policies, with the trust of that time. */
const replay = async (
  client: Client,
  options: CandidateFlags,
  input: object,
): Promise<ReplayResult> =>
  (await client.call('cowork_simulate_policy', {
    ...(await readCandidate(client, options)),
    ...input,
  })) as ReplayResult

const isSimulated = (result: SimulationResult | ReplayResult): result is SimulationResult =>
  'after' in result

const simulationCommands = [
  // Simulates one proposal; without one, replays the last month (Y6).
  command({
    usage: 'simulate',
    summary: 'simulate policies for a proposal, or for recent history',
    options: {
      ...candidateOptions,
      proposal: text(
        '--proposal <json>',
        'agent_id, domain, proposed_change and optionally field and trust_level (JSON or @file)',
      ),
    },
    run: async ({ client, options }): Promise<SimulationResult | ReplayResult> =>
      options.proposal === undefined
        ? replay(client, options, { days: 30 })
        : ((await client.call('cowork_simulate_policy', {
            proposal: parseJsonArgument('--proposal', options.proposal),
            ...(await readCandidate(client, options)),
          })) as SimulationResult),
    show: (result) => (isSimulated(result) ? formatSimulation(result) : formatReplay(result)),
    notes: (result) => (isSimulated(result) ? [] : truncatedNotes(result)),
    exit: (result) =>
      isSimulated(result) && result.after.mode === 'blocked' ? exitCode.denied : exitCode.ok,
  }),
  command({
    usage: 'replay',
    summary: 'replay recent history under other policies',
    options: {
      ...candidateOptions,
      days: daysOption(),
      agent: text('--agent <id>', 'replay only this agent'),
      domain: text('--domain <name>', 'replay only this domain'),
    },
    run: async ({ client, options }) =>
      replay(client, options, {
        days: options.days,
        agent_id: await resolveAgent(client, options.agent),
        domain: options.domain,
      }),
    show: formatReplay,
    notes: truncatedNotes,
  }),
]

function truncatedNotes({ truncated }: ReplayResult): string[] {
  return truncated ? ['History truncated: use fewer --days.'] : []
}

function formatSimulation({ summary, before, after }: SimulationResult): string[] {
  return [
    summary,
    ...formatFields({
      policy: `${sanitize(before.policy_id ?? 'none')} → ${sanitize(after.policy_id ?? 'none')}`,
      trust: formatScore(after.trust_level),
      approvers: `${before.approvers} → ${after.approvers}`,
      'high risk': sanitize(after.high_risk_fields.join(', ')) || undefined,
    }),
    ...formatViolations(after.violations),
  ]
}

function formatReplay(result: ReplayResult): string[] {
  const { summary, replayed, unchanged, skipped, days: past } = result
  const rows = result.table.flatMap(({ from, to, count, examples }) =>
    examples.map((example, index) => [
      ...(index === 0 ? [count, `${from}→${to}`] : ['', '']),
      sanitize(example.agent_id),
      sanitize(example.domain),
      example.kind,
      sanitize(example.action),
      example.seq ?? '–',
    ]),
  )
  const unknown = skipped > 0 ? `, ${skipped} skipped for lack of data` : ''
  return [
    summary,
    `Replayed ${replayed} of the last ${past} ${past === 1 ? 'day' : 'days'}, ${unchanged} unchanged${unknown}.`,
    ...(rows.length > 0
      ? [
          '',
          ...formatTable(['COUNT', 'CHANGE', 'AGENT', 'DOMAIN', 'KIND', 'EXAMPLE', 'ENTRY'], rows),
        ]
      : []),
  ]
}

const formatViolations = (violations: SimulationResult['after']['violations']): string[] =>
  violations.map(({ severity, field, reason, rule_id: rule }) =>
    sanitize(`  ${severity}  ${field}: ${reason} (rule ${rule})`),
  )

export const policyCommand: CommandSpec = {
  usage: 'policy',
  summary: 'check, simulate and save policies',
  commands: [
    // Checks a change before it is proposed (Y5).
    toolCommand({
      usage: 'check <agent> <domain>',
      summary: 'check a change against the policies, without proposing it',
      options: {
        field: text('--field <name>', 'field to change'),
        value: text('--value <value>', 'new value of the field'),
        change: text('--change <json>', 'full change, as JSON or @file'),
      },
      check({ options: { field, value, change } }) {
        if (value !== undefined && field === undefined)
          throw usageError('--value needs --field.', 'Add --field.')
        if (value !== undefined && change !== undefined)
          throw usageError('--value and --change cannot be combined.', 'Use one of them.')
      },
      tool: 'cowork_validate_policy',
      input: ({ args: [agent, domain], options: { field, value, change } }) => ({
        agent_id: agent,
        domain,
        field,
        proposed_value: value === undefined ? undefined : parseValueArgument(value),
        proposed_change: change === undefined ? undefined : parseJsonArgument('--change', change),
      }),
      show: formatVerdict,
      exit: ({ hard_stop: isBlocked }) => (isBlocked ? exitCode.denied : exitCode.ok),
    }),
    toolCommand({
      usage: 'list',
      summary: 'list policies and mappings',
      tool: 'cowork_list_policies',
      show: ({ policies, mappings }) => [
        ...formatRows(policies, 'No policies. Add policies to the configuration.', {
          POLICY: ({ id }) => id,
          MODE: ({ mode }) => mode,
          RULES: ({ rules }) => rules,
          ABOUT: ({ description }) => description,
        }),
        '',
        ...formatRows(mappings, 'No mappings: agents may propose in any domain.', {
          AGENT: (row) => row.agent_id,
          DOMAIN: (row) => row.domain,
          POLICY: (row) => row.policy_id,
          FROM: (row) => row.source,
        }),
      ],
    }),
    ...simulationCommands,
    ...versionCommands,
  ],
}

function formatVerdict(verdict: ToolResults['cowork_validate_policy']): string[] {
  const { policy_id: id, policy_description: about, mapping_found: isMapped } = verdict
  return [
    sanitize(verdict.message),
    ...formatViolations(verdict.violations),
    id === null
      ? `No policy ${isMapped ? 'applies' : 'is mapped to this agent and domain'}.`
      : `Policy ${sanitize(id)}${about ? `: ${sanitize(about)}` : ''} (${verdict.policy_rules_checked} rules checked).`,
  ]
}
