import type { ToolResults } from '#wire'
import { resolveAgent } from './lookup.ts'
import { command, daysOption, text } from './command.ts'
import { formatFields, sanitize, tableOf } from './output.ts'
import { levelName, standingText } from './trust.ts'

type Report = ToolResults['cowork_governance_report']
type Quality = ToolResults['cowork_quality_metrics']

const day = 24 * 60 * 60 * 1000

/** What is wrong, where people stepped in, and how well it goes, from the ledger (G3, Q1, Q2). */
export const reportCommand = command({
  usage: 'report',
  summary: 'what is wrong with how agents and people work together',
  options: {
    days: daysOption(),
    agent: text('--agent <id>', 'only about this agent'),
    domain: text('--domain <name>', 'only about this domain'),
  },
  async run({ client, options }) {
    const scope = {
      start: new Date(Date.now() - options.days * day).toISOString(),
      agent_id: await resolveAgent(client, options.agent),
      domain: options.domain,
    }
    const [found, quality] = await Promise.all([
      client.call('cowork_governance_report', scope),
      client.call('cowork_quality_metrics', scope),
    ])
    return { ...found, quality }
  },
  show: ({ findings, interventions, standings, period, quality }) => [
    `From ${period.start.slice(0, 16)} to ${period.end.slice(0, 16)} UTC`,
    '',
    ...findingLines(findings),
    ...standingLines(standings),
    ...interventionLines(interventions),
    '',
    ...qualityLines(quality),
  ],
})

function findingLines(findings: Report['findings']): string[] {
  if (findings.length === 0) return ['Nothing was found that needs you.']
  return findings.flatMap(({ severity, title, entries, recommendation }) => [
    `${severity}: ${sanitize(title)}${entriesOf(entries)}`,
    `  ${sanitize(recommendation)}`,
  ])
}

const mostEntries = 5

function entriesOf(entries: readonly number[]): string {
  if (entries.length === 0) return ''
  const more = entries.length > mostEntries ? ', …' : ''
  return ` (${entries.length === 1 ? 'entry' : 'entries'} ${entries.slice(0, mostEntries).join(', ')}${more})`
}

/** Where the risk is normal, and each other class that stands differently. */
function standingLines(standings: Report['standings'] = []): string[] {
  const rows = standings.flatMap(({ agent_id: agent, domain, classes }) => {
    const normal = classes.find(({ risk }) => risk === 'normal')
    const shown = classes.filter((one) => one === normal || one.level !== normal?.level)
    return shown.map((one) => ({ agent, domain, ...one }))
  })
  const lines = tableOf(rows, '', {
    AGENT: ({ agent }) => agent,
    DOMAIN: ({ domain }) => domain,
    RISK: ({ risk }) => risk,
    LEVEL: levelName,
    'WHY, AND WHAT IS MISSING': standingText,
  })
  return rows.length === 0 ? [] : ['', ...lines]
}

function interventionLines(interventions: Report['interventions']): string[] {
  const lines = tableOf(interventions, '', {
    AGENT: (one) => one.agent_id,
    DOMAIN: (one) => one.domain,
    APPROVED: (one) => one.approvals,
    OVERRIDDEN: (one) => one.overrides,
    'HANDED OVER': (one) => one.handoffs,
    EXPIRED: (one) => one.expired,
  })
  return interventions.length === 0 ? [] : ['', ...lines]
}

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
  return formatFields({
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
