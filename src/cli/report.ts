import type { ToolResults } from '#wire'
import { resolveAgent } from './lookup.ts'
import { command, daysOption, text } from './command.ts'
import { formatFields, sanitize, formatRows } from './output.ts'
import { formatLevel, formatStanding } from './trust.ts'

type Report = ToolResults['cowork_governance_report']
type Quality = ToolResults['cowork_quality_metrics']

const msPerDay = 24 * 60 * 60 * 1000

/** Findings, interventions and quality metrics from the ledger (G3, Q1, Q2). */
export const reportCommand = command({
  usage: 'report',
  summary: 'show the governance report',
  options: {
    days: daysOption(),
    agent: text('--agent <id>', 'report only on this agent'),
    domain: text('--domain <name>', 'report only on this domain'),
  },
  async run({ client, options }) {
    const scope = {
      start: new Date(Date.now() - options.days * msPerDay).toISOString(),
      agent_id: await resolveAgent(client, options.agent),
      domain: options.domain,
    }
    const [report, quality] = await Promise.all([
      client.call('cowork_governance_report', scope),
      client.call('cowork_quality_metrics', scope),
    ])
    return { ...report, quality }
  },
  show: ({ findings, interventions, standings, period, quality }) => [
    `From ${period.start.slice(0, 16)} to ${period.end.slice(0, 16)} UTC`,
    '',
    ...formatFindings(findings),
    ...formatStandings(standings),
    ...formatInterventions(interventions),
    '',
    ...formatQuality(quality),
  ],
})

function formatFindings(findings: Report['findings']): string[] {
  if (findings.length === 0) return ['No findings.']
  return findings.flatMap(({ severity, title, entries, recommendation }) => [
    `${severity}: ${sanitize(title)}${formatEntryNumbers(entries)}`,
    `  ${sanitize(recommendation)}`,
  ])
}

const maxEntries = 5

function formatEntryNumbers(entries: readonly number[]): string {
  if (entries.length === 0) return ''
  const more = entries.length > maxEntries ? ', …' : ''
  return ` (${entries.length === 1 ? 'entry' : 'entries'} ${entries.slice(0, maxEntries).join(', ')}${more})`
}

/** Rows for normal risk, and for other risk classes with a different level. */
function formatStandings(standings: Report['standings'] = []): string[] {
  const rows = standings.flatMap(({ agent_id: agent, domain, classes }) => {
    const normal = classes.find(({ risk }) => risk === 'normal')
    const shown = classes.filter((row) => row === normal || row.level !== normal?.level)
    return shown.map((row) => ({ agent, domain, ...row }))
  })
  const lines = formatRows(rows, '', {
    AGENT: ({ agent }) => agent,
    DOMAIN: ({ domain }) => domain,
    RISK: ({ risk }) => risk,
    LEVEL: formatLevel,
    'REASON AND NEXT STEP': formatStanding,
  })
  return rows.length === 0 ? [] : ['', ...lines]
}

function formatInterventions(interventions: Report['interventions']): string[] {
  const lines = formatRows(interventions, '', {
    AGENT: (row) => row.agent_id,
    DOMAIN: (row) => row.domain,
    APPROVED: (row) => row.approvals,
    OVERRIDDEN: (row) => row.overrides,
    HANDOFFS: (row) => row.handoffs,
    EXPIRED: (row) => row.expired,
  })
  return interventions.length === 0 ? [] : ['', ...lines]
}

/** Leaves out metrics without enough data. */
function formatQuality(quality: Quality): string[] {
  const { approval_interval: interval, collaboration_score: total, ece, brier } = quality
  const between = interval
    ? ` (${formatPercent(interval.low)} to ${formatPercent(interval.high)})`
    : ''
  const approved = formatKnown(
    quality.approval_rate,
    (rate) => `, ${formatPercent(rate)} approved${between}`,
  )
  const overrides = quality.overrides.map(
    ({ override_type: type, severity, count }) => `${count} ${type} ${severity}`,
  )
  const which = overrides.length > 0 ? `: ${overrides.join(', ')}` : ''
  const wrong = formatKnown(
    quality.slips_per_100,
    (slips) => `, ${round(slips)} of 100 marked as wrong`,
  )
  const { alone_error_interval: range, checks_drawn: drawn } = quality
  const within = range ? ` (${formatPercent(range.low)} to ${formatPercent(range.high)})` : ''
  const slowest = formatKnown(quality.latency_p95, (value) => `, ${formatSeconds(value)} (95 %)`)
  const score = formatKnown(brier, (value) => ` (Brier ${value.toFixed(2)})`)
  const off = formatKnown(ece, (value) => `, off by ${value.toFixed(2)}${score ?? ''}`)
  return formatFields({
    collaboration: total === null ? 'no score before 20 reviews' : `${Math.round(total)} of 100`,
    reviewed: `${quality.n_reviewed}${approved ?? ''}`,
    accuracy: formatKnown(quality.accuracy, formatPercent),
    overrides: formatKnown(quality.override_rate, (rate) => `${formatPercent(rate)}${which}`),
    autonomous: formatKnown(
      quality.automation_rate,
      (rate) => `${formatPercent(rate)} decided by trust${wrong ?? ''}`,
    ),
    'autonomous errors': formatKnown(
      quality.alone_error_rate,
      (rate) =>
        `${formatPercent(rate)}${within}, from ${drawn === 1 ? '1 random check' : `${drawn} random checks`}`,
    ),
    'checks reviewed': formatKnown(
      quality.checks_within_day,
      (part) => `${formatPercent(part)} within a day`,
    ),
    'review load': formatKnown(quality.review_load, (load) => `${round(load)} for 100 actions`),
    retried: formatKnown(quality.retry_rate, formatPercent),
    'rolled back': formatKnown(quality.rollback_rate, formatPercent),
    'decided within': formatKnown(
      quality.latency_p50,
      (value) => `${formatSeconds(value)} (median)${slowest ?? ''}`,
    ),
    'handoffs within': formatKnown(
      quality.handoff_latency_p50,
      (value) => `${formatSeconds(value)} (median)`,
    ),
    'rubber-stamped': formatKnown(quality.rubber_stamp_share, formatPercent),
    confidence: formatKnown(
      quality.confidence_avg,
      (value) => `${value.toFixed(2)} on average${off ?? ''}`,
    ),
  })
}

const formatKnown = (value: number | null, format: (value: number) => string): string | undefined =>
  value === null ? undefined : format(value)

const round = (value: number) => Math.round(value * 10) / 10
const formatPercent = (value: number) => `${Math.round(value * 100)} %`
const formatSeconds = (value: number) => `${round(value)} s`
