import * as z from 'zod'
import { requesterFilter, spotCheck } from '#approvals'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { forAnyone } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { changedFields, computeQuality, findRetries } from '../insight/quality.ts'
import type { OpenCheck } from '../insight/quality.ts'
import type { History } from '../insight/history.ts'
import { readHistory } from '../insight/history.ts'
import {
  byWeight,
  computeFindings,
  computeInterventions,
  matchesScope,
  findUnreadChecks,
} from '../insight/report.ts'
import type { Scope } from '../insight/report.ts'
import type { GovernanceDeps } from './index.ts'
import { domain, boundedText, agentFields } from './shared-schemas.ts'
import { reportResults } from '../wire/report.ts'

const defaultPeriodMs = 30 * 24 * 3_600_000
const time = boundedText(40).optional()

const scopeInput = z.object({
  agent_id: agentFields.agent_id.describe('Only this agent; an agent sees itself'),
  domain: domain.optional().describe('Only this domain'),
  start: time.describe('Date or RFC 3339 time; default 30 days before end'),
  end: time.describe('Date or RFC 3339 time; default now'),
})
/** Parameter names of the COWORK protocol. */
const reportAliases = { domain_filter: 'domain', start_time: 'start', end_time: 'end' }

/** People can query every agent, an agent only itself (G3, L10). */
function parseScope(input: z.output<typeof scopeInput>, caller: Caller, now: number): Scope {
  // The end is exclusive: include the current millisecond.
  const end = input.end === undefined ? now + 1 : parseTime('end', input.end)
  const start = Math.max(
    0,
    input.start === undefined ? end - defaultPeriodMs : parseTime('start', input.start),
  )
  if (start >= end)
    throw new CoworkError('invalid_input', 'Invalid period: end is not after start.', {
      hint: 'Set start to a time before end.',
    })
  const { requester: agent, since = 0 } = requesterFilter(caller, input.agent_id)
  const period = { start: Math.min(end, Math.max(start, since)), end }
  return { agent, domain: input.domain, period }
}

function parseTime(name: string, text: string): number {
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return at
  throw new CoworkError(
    'invalid_input',
    `Invalid ${name}: ${JSON.stringify(text)} is not a date.`,
    {
      hint: 'Write the date as 2026-02-01 or 2026-02-01T10:30:00Z.',
    },
  )
}

const toPeriodResult = ({ period: { start, end } }: Scope) => ({
  start: formatRfc3339(start),
  end: formatRfc3339(end),
})

/**
 * Removes confirmed checks from the history that an agent reads: they would reveal when it is checked (T14). A check
 * that was marked as wrong is visible in its trust anyway.
 */
const hideConfirmedChecks = (history: History): History => ({
  ...history,
  requests: new Map(
    [...history.requests].filter(
      ([, { kind, ended }]) => kind !== spotCheck || ended?.as === 'rejected',
    ),
  ),
})

/** Lists the standings of agents that are not revoked, with the fields of `cowork_standing`. */
async function listStandings({ governance, identity }: GovernanceDeps, scope: Scope) {
  const { store, db, standings, now } = governance
  const { agent, domain: where } = scope
  const pairs = await store.all(db, { agent, domain: where })
  const results = []
  for (const { trust, ...pair } of pairs)
    if (matchesScope(scope, pair) && !(await identity.isRemoved(db, pair.agent, now())))
      results.push(await standings(db, pair, trust))
  return results
}

/** The check metrics are hidden from the agent that they concern (T14). */
const hiddenCheckMetrics = {
  checks_drawn: null,
  alone_error_rate: null,
  alone_error_interval: null,
  checks_within_day: null,
}

const maxChecks = 1000

async function listOpenChecks(
  approvals: GovernanceDeps['governance']['approvals'],
  { agent, domain: where }: Scope,
): Promise<OpenCheck[]> {
  const pending = await approvals.listBriefs({
    statuses: ['pending'],
    kind: spotCheck,
    requester: agent,
    domain: where,
    limit: maxChecks,
  })
  return pending.map(({ requester, domain: place, createdAt }) => ({
    agent: requester,
    domain: place,
    openedAt: createdAt,
  }))
}

const batchSize = 200

async function fieldsById(
  approvals: GovernanceDeps['governance']['approvals'],
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const fields = new Map<string, string[]>()
  for (let at = 0; at < ids.length; at += batchSize) {
    const approvalsPage = await approvals.list({
      ids: ids.slice(at, at + batchSize),
      limit: batchSize,
    })
    for (const { id, content } of approvalsPage)
      fields.set(id, changedFields(content.change, content.field))
  }
  return fields
}

export const reportTools = (deps: GovernanceDeps): Tool[] => [
  defineTool({
    ...forAnyone.read,
    name: 'cowork_governance_report',
    aliases: reportAliases,
    title: 'Governance report',
    description:
      'Report findings on how agents and people work together, each with a recommendation; the interventions of people; and, for people, the standing of agents.',
    input: scopeInput,
    output: reportResults.cowork_governance_report,
    async read(input, { caller }) {
      const { waits, now } = deps.governance
      const scope = parseScope(input, caller, now())
      const { maxMs: maxWaitMs } = waits
      const fullHistory = await readHistory(deps.ledger, scope.period, { maxWaitMs })
      const period = toPeriodResult(scope)
      if (caller.kind === 'agent') {
        const history = hideConfirmedChecks(fullHistory)
        const findings = computeFindings(history, scope, waits.handoffMs)
        return {
          // Findings about the decisions of people are for people only.
          findings: findings.filter(({ person_id: person }) => person === undefined),
          interventions: computeInterventions(history, scope),
          period,
        }
      }
      const standings = await listStandings(deps, scope)
      const findings = [
        ...computeFindings(fullHistory, scope, waits.handoffMs),
        ...findUnreadChecks(standings),
      ].toSorted(byWeight)
      return {
        findings,
        interventions: computeInterventions(fullHistory, scope),
        standings: standings.map(({ agent_id, domain: where, classes }) => ({
          agent_id,
          domain: where,
          classes: classes.map(({ risk, level, reason, next }) => ({
            risk,
            level,
            reason,
            ...(next !== undefined && { next }),
          })),
        })),
        period,
      }
    },
  }),
  defineTool({
    ...forAnyone.read,
    name: 'cowork_quality_metrics',
    aliases: reportAliases,
    title: 'Quality metrics',
    description:
      'Measure how agents and people work together: approvals with their uncertainty, overrides, escapes, calibration of confidence, latency in seconds, and one score.',
    input: scopeInput,
    output: reportResults.cowork_quality_metrics,
    async read(input, { caller }) {
      const { approvals, waits, now } = deps.governance
      const scope = parseScope(input, caller, now())
      const { maxMs: maxWaitMs } = waits
      const fullHistory = await readHistory(deps.ledger, scope.period, {
        maxWaitMs,
        calls: true,
      })
      const isAgent = caller.kind === 'agent'
      const history = isAgent ? hideConfirmedChecks(fullHistory) : fullHistory
      const ids = findRetries([...history.requests.values()], scope).flatMap(([first, later]) =>
        later.length === 0 ? [] : [first.id, ...later.map(({ id }) => id)],
      )
      const fields = await fieldsById(approvals, [...new Set(ids)])
      const open = isAgent ? [] : await listOpenChecks(approvals, scope)
      return {
        ...computeQuality(history, scope, fields, open),
        ...(isAgent && hiddenCheckMetrics),
        period: toPeriodResult(scope),
      }
    },
  }),
]
