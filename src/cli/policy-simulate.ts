import { agentNamed } from './agent-named.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { score } from './inbox/detail.ts'
import { jsonArgument } from './json-argument.ts'
import { fields, table } from './output.ts'
import { plain } from './plain.ts'
import { bodyIn, versionNamed } from './policy-versions.ts'

type Judged = {
  mode: string
  policy_id: string | null
  trust_level: number
  violations: { rule_id: string; field: string; severity: string; reason: string }[]
  high_risk_fields: string[]
  approvers: number
}

type Simulated = { version: string; summary: string; before: Judged; after: Judged }

type Replayed = {
  version: string
  summary: string
  table: {
    from: string
    to: string
    count: number
    examples: {
      seq: number | null
      kind: string
      agent_id: string
      domain: string
      action: string
    }[]
  }[]
  days: number
  replayed: number
  unchanged: number
  skipped: number
  truncated: boolean
}

/** What is tried: a file, a version there was, or a policy in force as if it were mapped everywhere. */
export type TriedFlags = {
  readonly file?: string
  readonly saved?: string
  readonly policy?: string
}

async function triedBy(client: Client, { file, saved, policy }: TriedFlags): Promise<object> {
  if ([file, saved, policy].filter((given) => given !== undefined).length !== 1)
    throw usage('Say what to try: --file, --saved or --policy, one of them.')
  if (file !== undefined) return { body: bodyIn(file) }
  return saved === undefined
    ? { policy_id: policy }
    : { version: await versionNamed(client, saved) }
}

export type SimulateFlags = TriedFlags & { readonly proposal?: string }

/** What other policies would say to one proposal; to all of the last month where none is given (Y6). */
export async function simulatePolicy(
  context: Context,
  { proposal, ...tried }: SimulateFlags,
): Promise<ExitCode | void> {
  if (proposal === undefined) return replayPolicy(context, { days: 30, ...tried })
  const client = createClient(context)
  const found = await client.call<Simulated>('cowork_simulate_policy', {
    proposal: jsonArgument('--proposal', proposal),
    ...(await triedBy(client, tried)),
  })
  const { before, after, summary } = found
  context.out.data(found, () => [
    summary,
    ...fields({
      policy: `${plain(before.policy_id ?? 'none')} → ${plain(after.policy_id ?? 'none')}`,
      trust: score(after.trust_level),
      approvers: `${before.approvers} → ${after.approvers}`,
      'high risk':
        after.high_risk_fields.length > 0 ? plain(after.high_risk_fields.join(', ')) : undefined,
    }),
    ...after.violations.map(
      ({ severity, field, reason, rule_id: rule }) =>
        `  ${plain(severity)}  ${plain(field)}: ${plain(reason)} (rule ${plain(rule)})`,
    ),
  ])
  return after.mode === 'blocked' ? exitCode.denied : exitCode.ok
}

export type ReplayFlags = TriedFlags & {
  readonly days: number
  readonly agent?: string
  readonly domain?: string
}

/** What other policies would have made of all that was proposed and called, with the trust of that time. */
export async function replayPolicy(
  context: Context,
  { days, agent, domain, ...tried }: ReplayFlags,
): Promise<void> {
  const client = createClient(context)
  const found = await client.call<Replayed>('cowork_simulate_policy', {
    ...(await triedBy(client, tried)),
    days,
    ...(agent !== undefined && { agent_id: await agentNamed(client, agent) }),
    ...(domain !== undefined && { domain }),
  })
  context.out.data(found, () => replayLines(found))
  if (found.truncated) context.out.note('There is more on record: fewer --days show all of it.')
}

function replayLines(found: Replayed): string[] {
  const { summary, replayed, unchanged, skipped, days } = found
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
    `${replayed} replayed of the last ${days} ${days === 1 ? 'day' : 'days'}, ${unchanged} as they were${unknown}.`,
    ...(rows.length > 0
      ? ['', ...table(['COUNT', 'CHANGE', 'AGENT', 'DOMAIN', 'KIND', 'SUCH AS', 'ENTRY'], rows)]
      : []),
  ]
}
