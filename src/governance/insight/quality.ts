import { extractFields } from '../rules/fields.ts'
import type { ApprovalRecord, History } from './history.ts'
import { isInPeriod, matchesScope, rubberStampMs } from './report.ts'
import type { Scope } from './report.ts'
import {
  brierScore,
  calibrationError,
  mean,
  percentile,
  ratio,
  wilsonInterval,
} from './statistics.ts'
import type { Claim } from './statistics.ts'
import { isAgentFault, overrideWeight } from '../rules/trust.ts'
import type { OverrideKind } from '../rules/trust.ts'

/** Computes how well agents and people work together (Q1, Q2). Pure. */

const hour = 3_600_000
const day = 24 * hour
/** Fewer decisions are not significant. */
const minScored = 20
/** A slower decision does not lower the score further. */
const maxLatencyMs = 4 * hour

type DecidedRecord = ApprovalRecord & { readonly ended: NonNullable<ApprovalRecord['ended']> }

/** Kinds that a person decides before the agent acts. */
const isAction = ({ kind }: ApprovalRecord) => kind === 'proposal' || kind === 'call'

/** The changed fields by proposal id: the ledger does not contain them. */
export type FieldsByProposal = ReadonlyMap<string, readonly string[]>

/** A pending check: the ledger does not contain it. */
export type OpenCheck = Pick<ApprovalRecord, 'agent' | 'domain'> & { readonly openedAt: number }

export function computeQuality(
  history: History,
  scope: Scope,
  fields: FieldsByProposal,
  open: readonly OpenCheck[] = [],
) {
  const { period } = scope
  const all = [...history.requests.values()].filter((one) => matchesScope(scope, one))
  const decided = all.filter(
    (one): one is DecidedRecord => one.ended?.by !== undefined && isInPeriod(period, one.ended.at),
  )
  const reviewed = decided.filter(isAction)
  const approved = reviewed.filter(({ ended }) => ended.as === 'approved')
  const overrides = reviewed.flatMap(({ ended }) => ended.override ?? [])
  const faults = overrides.filter(({ type }) => isAgentFault(type))
  const n = reviewed.length

  const opened = all.filter((one) => isAction(one) && isInPeriod(period, one.opened?.at))
  const acted = history.autonomousActions.filter(
    (one) => matchesScope(scope, one) && isInPeriod(period, one.at),
  )
  const autonomous = opened.filter(({ auto }) => auto).length + acted.length
  const acts = opened.length + acted.length
  const checks = decided.filter(({ kind }) => kind === 'spot_check')
  const corrected = history.corrected.filter(
    (one) => matchesScope(scope, one) && isInPeriod(period, one.at),
  )
  const isAutonomous = (proposal: string | undefined) =>
    proposal === undefined || history.requests.get(proposal)?.auto === true
  const escapes = [
    ...checks.flatMap(({ ended }) => ended.override ?? []),
    ...corrected.filter(({ proposal }) => isAutonomous(proposal)).map(({ override }) => override),
  ].filter(({ type }) => isAgentFault(type)).length
  const drawn = checks.filter(({ isLookBack, ended }) => !isLookBack && !ended.isUnread)
  const wrong = drawn.filter(
    ({ ended: { override } }) => override && isAgentFault(override.type),
  ).length
  const escapeRate = ratio(escapes, autonomous)
  const undone = new Set(corrected.flatMap(({ proposal }) => proposal ?? []))

  const claims = reviewed.flatMap((one): Claim[] => {
    const { confidence, ended } = one
    const isRight = ended.as === 'approved'
    const isWrong = ended.override !== undefined && isAgentFault(ended.override.type)
    return confidence !== null && (isRight || isWrong) ? [{ confidence, isRight }] : []
  })
  const ece = calibrationError(claims)
  const reviewTimes = approved.flatMap(({ ended: { reviewMs } }) => reviewMs ?? [])
  const latency = computeLatency(reviewed)
  const handoffs = computeLatency(decided.filter(({ kind }) => kind === 'handoff'))
  const weighted = ratio(
    overrides.reduce((sum, kind) => sum + overrideWeight(kind), 0),
    n,
  )
  const retries = findRetries(all, scope)
  const isRetried = ([override, later]: Retry) =>
    later.some(({ id }) => haveCommonField(fields.get(override.id), fields.get(id)))

  return {
    n_reviewed: n,
    approval_rate: round(ratio(approved.length, n)),
    approval_interval: n === 0 ? null : toInterval(approved.length, n),
    accuracy: round(ratio(approved.length, approved.length + faults.length)),
    override_rate: round(ratio(overrides.length, n)),
    overrides: byKind(overrides, n),
    weighted_override: round(weighted),
    autonomous,
    escape_rate: round(escapeRate),
    slips_per_100: autonomous === 0 ? null : round((100 * escapes) / autonomous),
    checks_drawn: drawn.length,
    alone_error_rate: round(ratio(wrong, drawn.length)),
    alone_error_interval: drawn.length === 0 ? null : toInterval(wrong, drawn.length),
    checks_within_day: round(shareReadWithinDay(all, scope, open)),
    automation_rate: round(ratio(autonomous, acts)),
    review_load: acts === 0 ? null : round((100 * (n + checks.length)) / acts),
    retry_rate: round(ratio(retries.filter(isRetried).length, retries.length)),
    rollback_rate: round(ratio(undone.size, approved.length + autonomous)),
    latency_p50: round(latency.p50),
    latency_p95: round(latency.p95),
    handoff_latency_p50: round(handoffs.p50),
    handoff_latency_p95: round(handoffs.p95),
    confidence_avg: round(mean(opened.flatMap(({ confidence }) => confidence ?? []))),
    brier: round(brierScore(claims)),
    ece: round(ece),
    rubber_stamp_share:
      reviewTimes.length < minScored
        ? null
        : round(ratio(reviewTimes.filter((ms) => ms < rubberStampMs).length, reviewTimes.length)),
    collaboration_score:
      n < minScored
        ? null
        : round(
            collaborationScore({
              weightedOverride: weighted ?? 0,
              p95Ms: (latency.p95 ?? 0) * 1000,
              ece: ece ?? 0,
              escape: escapeRate ?? 0,
            }),
          ),
  }
}

/** Counts the checks that were opened in the period and are read or older than a day. */
function shareReadWithinDay(
  all: readonly ApprovalRecord[],
  scope: Scope,
  open: readonly OpenCheck[],
) {
  const { period } = scope
  const answered = all.filter(
    ({ kind, opened, ended }) => kind === 'spot_check' && ended && isInPeriod(period, opened?.at),
  )
  const inTime = answered.filter(
    ({ opened, ended }) => opened && ended && !ended.isUnread && ended.at - opened.at <= day,
  )
  const late = open.filter(
    (one) =>
      matchesScope(scope, one) &&
      isInPeriod(period, one.openedAt) &&
      period.end - one.openedAt > day,
  )
  return ratio(inTime.length, answered.length + late.length)
}

type Parts = { weightedOverride: number; p95Ms: number; ece: number; escape: number }

/** Returns 0 to 100 (Q2). An unknown value does not lower the score. */
export const collaborationScore = ({ weightedOverride, p95Ms, ece, escape }: Parts): number =>
  100 *
  (0.35 * (1 - weightedOverride) +
    0.25 * (1 - Math.min(1, p95Ms / maxLatencyMs)) +
    0.2 * (1 - ece) +
    0.2 * (1 - escape))

type Retry = [override: DecidedRecord, later: ApprovalRecord[]]

/** Finds overridden proposals, each with what the agent proposed on the same target within a day. */
export function findRetries(all: readonly ApprovalRecord[], scope: Scope): Retry[] {
  const onTarget = Map.groupBy(
    all.filter(({ kind }) => kind === 'proposal'),
    ({ agent, domain, target }) => JSON.stringify([agent, domain, target]),
  )
  return [...onTarget.values()].flatMap((same) =>
    same.flatMap((one): Retry[] => {
      const { ended } = one
      if (!ended?.override || !matchesScope(scope, one) || !isInPeriod(scope.period, ended.at))
        return []
      const isLater = ({ opened }: ApprovalRecord) =>
        opened !== undefined && opened.at >= ended.at && opened.at <= ended.at + day
      return [[{ ...one, ended }, same.filter((other) => other !== one && isLater(other))]]
    }),
  )
}

/** Lists the fields that a proposal changes: two proposals without a common field are no retry. */
export const changedFields = (change: unknown, field?: string): string[] =>
  extractFields(change, field)
    .filter(({ value }) => value !== undefined && (typeof value !== 'object' || value === null))
    .map(({ path }) => path)
    // With `field`, the value is under a generic key.
    .filter((path) => field === undefined || (path !== 'value' && path !== 'raw'))

const haveCommonField = (some: readonly string[] = [], others: readonly string[] = []) =>
  some.some((field) => others.includes(field))

/** In seconds, for records with a known start. */
function computeLatency(decided: readonly DecidedRecord[]) {
  const seconds = decided.flatMap(({ opened, ended }) =>
    opened ? (ended.at - opened.at) / 1000 : [],
  )
  return { p50: percentile(seconds, 0.5), p95: percentile(seconds, 0.95) }
}

function byKind(overrides: readonly OverrideKind[], n: number) {
  const grouped = Map.groupBy(overrides, ({ type, severity }) => `${type} ${severity}`)
  return [...grouped.values()].flatMap((some) =>
    some[0]
      ? [
          {
            override_type: some[0].type,
            severity: some[0].severity,
            count: some.length,
            rate: round(some.length / n) ?? 0,
          },
        ]
      : [],
  )
}

const toInterval = (part: number, all: number) => {
  const { low, high } = wilsonInterval(part, all)
  return { low: round(low) ?? 0, high: round(high) ?? 0 }
}

function round(value: number): number
function round(value: number | null): number | null
function round(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10_000) / 10_000
}
