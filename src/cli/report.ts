import { agentNamed } from './agent-named.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { fields, table } from './output.ts'
import { plain } from './plain.ts'
import { levelName, standingText } from './standing-lines.ts'
import type { StandingClass } from './standing-lines.ts'

type Finding = {
  kind: string
  severity: string
  title: string
  count: number
  agent_id?: string
  domain?: string
  person_id?: string
  entries: number[]
  recommendation: string
}

type Intervention = {
  agent_id: string
  domain: string
  approvals: number
  overrides: number
  handoffs: number
  expired: number
}

type Report = {
  findings: Finding[]
  interventions: Intervention[]
  standings: ReportedStanding[]
  period: { start: string; end: string }
}

type ReportedStanding = {
  agent_id: string
  domain: string
  classes: Pick<StandingClass, 'risk' | 'level' | 'reason' | 'next'>[]
}

type Quality = {
  n_reviewed: number
  approval_rate: number | null
  approval_interval: { low: number; high: number } | null
  accuracy: number | null
  override_rate: number | null
  overrides: { override_type: string; severity: string; count: number }[]
  escape_rate: number | null
  slips_per_100: number | null
  checks_drawn: number | null
  alone_error_rate: number | null
  alone_error_interval: { low: number; high: number } | null
  checks_within_day: number | null
  automation_rate: number | null
  review_load: number | null
  retry_rate: number | null
  rollback_rate: number | null
  latency_p50: number | null
  latency_p95: number | null
  handoff_latency_p50: number | null
  confidence_avg: number | null
  brier: number | null
  ece: number | null
  rubber_stamp_share: number | null
  collaboration_score: number | null
}

export type ReportFlags = {
  readonly days: number
  readonly agent?: string
  readonly domain?: string
}

const day = 24 * 60 * 60 * 1000

/** What is wrong, where people stepped in, and how well it goes, from the ledger (G3, Q1, Q2). */
export async function report(
  context: Context,
  { days, agent, domain }: ReportFlags,
): Promise<void> {
  const client = createClient(context)
  const scope = {
    start: new Date(Date.now() - days * day).toISOString(),
    ...(agent !== undefined && { agent_id: await agentNamed(client, agent) }),
    ...(domain !== undefined && { domain }),
  }
  const [found, quality] = await Promise.all([
    client.call<Report>('cowork_governance_report', scope),
    client.call<Quality>('cowork_quality_metrics', scope),
  ])
  context.out.data({ ...found, quality }, () => [
    `From ${found.period.start.slice(0, 16)} to ${found.period.end.slice(0, 16)} UTC`,
    '',
    ...findingLines(found.findings),
    ...standingLines(found.standings),
    ...interventionLines(found.interventions),
    '',
    ...qualityLines(quality),
  ])
}

function findingLines(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return ['Nothing was found that needs you.']
  return findings.flatMap(({ severity, title, entries, recommendation }) => [
    `${severity}: ${plain(title)}${entriesOf(entries)}`,
    `  ${plain(recommendation)}`,
  ])
}

const mostEntries = 5

function entriesOf(entries: readonly number[]): string {
  if (entries.length === 0) return ''
  const more = entries.length > mostEntries ? ', …' : ''
  return ` (${entries.length === 1 ? 'entry' : 'entries'} ${entries.slice(0, mostEntries).join(', ')}${more})`
}

/** Where the risk is normal, and each other class that stands differently. */
function standingLines(standings: readonly ReportedStanding[]): string[] {
  const rows = standings.flatMap(({ agent_id: agent, domain, classes }) => {
    const normal = classes.find(({ risk }) => risk === 'normal')
    const shown = classes.filter((one) => one === normal || one.level !== normal?.level)
    return shown.map((one) => [
      plain(agent),
      plain(domain),
      one.risk,
      levelName(one),
      plain(standingText(one)),
    ])
  })
  return rows.length === 0
    ? []
    : ['', ...table(['AGENT', 'DOMAIN', 'RISK', 'LEVEL', 'WHY, AND WHAT IS MISSING'], rows)]
}

const interventionLines = (interventions: readonly Intervention[]): string[] =>
  interventions.length === 0
    ? []
    : [
        '',
        ...table(
          ['AGENT', 'DOMAIN', 'APPROVED', 'OVERRIDDEN', 'HANDED OVER', 'EXPIRED'],
          interventions.map((one) => [
            plain(one.agent_id),
            plain(one.domain),
            one.approvals,
            one.overrides,
            one.handoffs,
            one.expired,
          ]),
        ),
      ]

/** What cannot be told yet is left out. */
function qualityLines(quality: Quality): string[] {
  const { approval_interval: interval, collaboration_score: whole, ece, brier } = quality
  const between = interval ? ` (${percent(interval.low)} to ${percent(interval.high)})` : ''
  const approved = known(quality.approval_rate, (rate) => `, ${percent(rate)} approved${between}`)
  const overrides = quality.overrides.map(
    ({ override_type: type, severity, count }) => `${count} ${type} ${severity}`,
  )
  const which = overrides.length > 0 ? `: ${overrides.join(', ')}` : ''
  const wrong = known(quality.slips_per_100, (slips) => `, ${rounded(slips)} of 100 found wrong`)
  const { alone_error_interval: range, checks_drawn: drawn } = quality
  const within = range ? ` (${percent(range.low)} to ${percent(range.high)})` : ''
  const slowest = known(quality.latency_p95, (value) => `, ${seconds(value)} (95 %)`)
  const score = known(brier, (value) => ` (Brier ${value.toFixed(2)})`)
  const off = known(ece, (value) => `, off by ${value.toFixed(2)}${score ?? ''}`)
  return fields({
    collaboration:
      whole === null ? 'no score before 20 were reviewed' : `${Math.round(whole)} of 100`,
    reviewed: `${quality.n_reviewed}${approved ?? ''}`,
    accuracy: known(quality.accuracy, percent),
    overrides: known(quality.override_rate, (rate) => `${percent(rate)}${which}`),
    alone: known(
      quality.automation_rate,
      (rate) => `${percent(rate)} decided by trust${wrong ?? ''}`,
    ),
    'wrong alone': known(
      quality.alone_error_rate,
      (rate) =>
        `${percent(rate)}${within}, by ${drawn === 1 ? '1 check' : `${drawn} checks`} by chance`,
    ),
    'checks read': known(quality.checks_within_day, (part) => `${percent(part)} within a day`),
    'review load': known(quality.review_load, (load) => `${rounded(load)} for 100 actions`),
    'tried again': known(quality.retry_rate, percent),
    'taken back': known(quality.rollback_rate, percent),
    'decided within': known(
      quality.latency_p50,
      (value) => `${seconds(value)} (median)${slowest ?? ''}`,
    ),
    'handoffs within': known(quality.handoff_latency_p50, (value) => `${seconds(value)} (median)`),
    'approved blindly': known(quality.rubber_stamp_share, percent),
    confidence: known(
      quality.confidence_avg,
      (value) => `${value.toFixed(2)} on average${off ?? ''}`,
    ),
  })
}

const known = (value: number | null, say: (value: number) => string): string | undefined =>
  value === null ? undefined : say(value)

const rounded = (value: number) => Math.round(value * 10) / 10
const percent = (value: number) => `${Math.round(value * 100)} %`
const seconds = (value: number) => `${rounded(value)} s`
