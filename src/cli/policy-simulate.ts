import type { ToolResults } from '#wire'
import { agentNamed } from './agent-named.ts'
import type { Client } from './client.ts'
import { command } from './command.ts'
import { exitCode, usage } from './exit.ts'
import { score } from './inbox/detail.ts'
import { jsonArgument } from './json-argument.ts'
import { days, text } from './option-kinds.ts'
import type { Values } from './option-kinds.ts'
import { fields, table } from './output.ts'
import { plain } from './plain.ts'
import { bodyIn, versionNamed } from './policy-versions.ts'

type Answer = ToolResults['cowork_simulate_policy']
type Having<Field extends keyof Answer> = Answer & Required<Pick<Answer, Field>>

/** The answer about one proposal. */
type Simulated = Having<'before' | 'after'>
/** The answer about all there were. */
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
    throw usage('Say what to try: --file, --saved or --policy, one of them.')
  if (file !== undefined) return { body: bodyIn(file) }
  return saved === undefined
    ? { policy_id: policy }
    : { version: await versionNamed(client, saved) }
}

/** What other policies would have made of all that was proposed and called, with the trust of that time. */
const replay = async (client: Client, options: Tried, more: object): Promise<Replayed> =>
  (await client.call('cowork_simulate_policy', {
    ...(await triedBy(client, options)),
    ...more,
  })) as Replayed

const isSimulated = (found: Simulated | Replayed): found is Simulated => 'after' in found

export const tryCommands = [
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
            proposal: jsonArgument('--proposal', options.proposal),
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
      days: days(),
      agent: text('--agent <id>', 'only of this agent'),
      domain: text('--domain <name>', 'only in this domain'),
    },
    run: async ({ client, options }) =>
      replay(client, options, {
        days: options.days,
        agent_id: await agentNamed(client, options.agent),
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
    ...fields({
      policy: `${plain(before.policy_id ?? 'none')} → ${plain(after.policy_id ?? 'none')}`,
      trust: score(after.trust_level),
      approvers: `${before.approvers} → ${after.approvers}`,
      'high risk': plain(after.high_risk_fields.join(', ')) || undefined,
    }),
    ...violationLines(after.violations),
  ]
}

function replayLines(found: Replayed): string[] {
  const { summary, replayed, unchanged, skipped, days: past } = found
  const rows = found.table.flatMap(({ from, to, count, examples }) =>
    examples.map((one, at) => [
      ...(at === 0 ? [count, `${from}→${to}`] : ['', '']),
      plain(one.agent_id),
      plain(one.domain),
      one.kind,
      plain(one.action),
      one.seq ?? '–',
    ]),
  )
  const unknown = skipped > 0 ? `, ${skipped} on record without what is needed to tell` : ''
  return [
    summary,
    `${replayed} replayed of the last ${past} ${past === 1 ? 'day' : 'days'}, ${unchanged} as they were${unknown}.`,
    ...(rows.length > 0
      ? ['', ...table(['COUNT', 'CHANGE', 'AGENT', 'DOMAIN', 'KIND', 'SUCH AS', 'ENTRY'], rows)]
      : []),
  ]
}

export const violationLines = (violations: Simulated['after']['violations']): string[] =>
  violations.map(({ severity, field, reason, rule_id: rule }) =>
    plain(`  ${severity}  ${field}: ${reason} (rule ${rule})`),
  )
