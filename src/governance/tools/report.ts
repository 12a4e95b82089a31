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
  unreadFindingsOf,
} from '../insight/report.ts'
import type { Scope } from '../insight/report.ts'
import type { GovernanceDeps } from './index.ts'
import { domain, boundedText, agentFields } from './shared-schemas.ts'
import { reportResults } from '../wire/report.ts'

const days30 = 30 * 24 * 3_600_000
const time = boundedText(40).optional()

const scopeInput = z.object({
  agent_id: agentFields.agent_id.describe('Only this agent; an agent sees itself'),
  domain: domain.optional().describe('Only this domain'),
  start: time.describe('Date or RFC 3339 time; default 30 days before end'),
  end: time.describe('Date or RFC 3339 time; default now'),
})
/** As the program of seed 001 names them. */
const reportAliases = { domain_filter: 'domain', start_time: 'start', end_time: 'end' }

/** People ask about everyone, an agent about itself (G3, L10). */
function scopeOf(asked: z.output<typeof scopeInput>, caller: Caller, now: number): Scope {
  // What happens in this very millisecond belongs to it.
  const end = asked.end === undefined ? now + 1 : timeOf('end', asked.end)
  const start = Math.max(0, asked.start === undefined ? end - days30 : timeOf('start', asked.start))
  if (start >= end)
    throw new CoworkError('invalid_input', 'The period ends before it begins.', {
      hint: 'Give a start before the end.',
    })
  const { requester: agent, since = 0 } = requesterFilter(caller, asked.agent_id)
  const period = { start: Math.min(end, Math.max(start, since)), end }
  return { agent, domain: asked.domain, period }
}

function timeOf(name: string, given: string): number {
  const at = Date.parse(given)
  if (!Number.isNaN(at)) return at
  throw new CoworkError('invalid_input', `${name} is no date: ${JSON.stringify(given)}.`, {
    hint: 'Write it as 2026-02-01 or 2026-02-01T10:30:00Z.',
  })
}

const shownPeriod = ({ period: { start, end } }: Scope) => ({
  start: formatRfc3339(start),
  end: formatRfc3339(end),
})

/**
 * What an agent may read of its history: no check that was confirmed, or it would know when it is looked at (T14).
 * One that was found wrong it knows by its trust.
 */
const forAgent = (history: History): History => ({
  ...history,
  asked: new Map(
    [...history.asked].filter(
      ([, { kind, ended }]) => kind !== spotCheck || ended?.as === 'rejected',
    ),
  ),
})

/** How agents that are still here stand, in the words of `cowork_standing`. */
async function standingsIn({ governance, identity }: GovernanceDeps, scope: Scope) {
  const { store, db, standings, now } = governance
  const { agent, domain: where } = scope
  const pairs = await store.all(db, { agent, domain: where })
  const found = []
  for (const { trust, ...pair } of pairs)
    if (matchesScope(scope, pair) && !(await identity.hasGone(db, pair.agent, now())))
      found.push(await standings(db, pair, trust))
  return found
}

/** How its checks go is not for the agent that they are about (T14). */
const ofChecks = {
  checks_drawn: null,
  alone_error_rate: null,
  alone_error_interval: null,
  checks_within_day: null,
}

const mostChecks = 1000

async function openChecks(
  approvals: GovernanceDeps['governance']['approvals'],
  { agent, domain: where }: Scope,
): Promise<OpenCheck[]> {
  const pending = await approvals.listBriefs({
    statuses: ['pending'],
    kind: spotCheck,
    requester: agent,
    domain: where,
    limit: mostChecks,
  })
  return pending.map(({ requester, domain: place, createdAt }) => ({
    agent: requester,
    domain: place,
    openedAt: createdAt,
  }))
}

const atOnce = 200

async function fieldsById(
  approvals: GovernanceDeps['governance']['approvals'],
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const fields = new Map<string, string[]>()
  for (let at = 0; at < ids.length; at += atOnce) {
    const some = await approvals.list({ ids: ids.slice(at, at + atOnce), limit: atOnce })
    for (const { id, content } of some) fields.set(id, changedFields(content.change, content.field))
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
      'What is wrong with how agents and people work together, from the ledger, with a recommendation each; where people stepped in; and, for people, how agents stand.',
    input: scopeInput,
    output: reportResults.cowork_governance_report,
    async read(input, { caller }) {
      const { waits, now } = deps.governance
      const scope = scopeOf(input, caller, now())
      const { longestMs: longestWaitMs } = waits
      const whole = await readHistory(deps.ledger, scope.period, { longestWaitMs })
      const period = shownPeriod(scope)
      if (caller.kind === 'agent') {
        const history = forAgent(whole)
        const findings = computeFindings(history, scope, waits.handoffMs)
        return {
          // How people decide is for people.
          findings: findings.filter(({ person_id: person }) => person === undefined),
          interventions: computeInterventions(history, scope),
          period,
        }
      }
      const standings = await standingsIn(deps, scope)
      const findings = [
        ...computeFindings(whole, scope, waits.handoffMs),
        ...unreadFindingsOf(standings),
      ].toSorted(byWeight)
      return {
        findings,
        interventions: computeInterventions(whole, scope),
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
      'How well agents and people work together, in numbers: approvals with their uncertainty, overrides, escapes, calibration of confidence, latency in seconds, and one score.',
    input: scopeInput,
    output: reportResults.cowork_quality_metrics,
    async read(input, { caller }) {
      const { approvals, waits, now } = deps.governance
      const scope = scopeOf(input, caller, now())
      const { longestMs: longestWaitMs } = waits
      const whole = await readHistory(deps.ledger, scope.period, { longestWaitMs, calls: true })
      const isAgent = caller.kind === 'agent'
      const history = isAgent ? forAgent(whole) : whole
      const ids = findRetries([...history.asked.values()], scope).flatMap(([first, later]) =>
        later.length === 0 ? [] : [first.id, ...later.map(({ id }) => id)],
      )
      const fields = await fieldsById(approvals, [...new Set(ids)])
      const open = isAgent ? [] : await openChecks(approvals, scope)
      return {
        ...computeQuality(history, scope, fields, open),
        ...(isAgent && ofChecks),
        period: shownPeriod(scope),
      }
    },
  }),
]
