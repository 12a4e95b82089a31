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

/** How well agents and people work together, in numbers (Q1, Q2). Pure. */

const hour = 3_600_000
const day = 24 * hour
/** So few decisions say nothing. */
const fewestScored = 20
/** A decision that took this long is as slow as any. */
const slowest = 4 * hour

type Decided = ApprovalRecord & { readonly ended: NonNullable<ApprovalRecord['ended']> }

/** Kinds that a person decides before the agent acts. */
const isAct = ({ kind }: ApprovalRecord) => kind === 'proposal' || kind === 'call'

/** Fields that a proposal is about, by its id: the ledger does not have them. */
export type FieldsByProposal = ReadonlyMap<string, readonly string[]>

/** A check that nobody has answered yet: the ledger does not have it. */
export type OpenCheck = Pick<ApprovalRecord, 'agent' | 'domain'> & { readonly openedAt: number }

export function computeQuality(
  history: History,
  scope: Scope,
  fields: FieldsByProposal,
  open: readonly OpenCheck[] = [],
) {
  const { period } = scope
  const all = [...history.asked.values()].filter((one) => matchesScope(scope, one))
  const decided = all.filter(
    (one): one is Decided => one.ended?.by !== undefined && isInPeriod(period, one.ended.at),
  )
  const reviewed = decided.filter(isAct)
  const approved = reviewed.filter(({ ended }) => ended.as === 'approved')
  const overrides = reviewed.flatMap(({ ended }) => ended.override ?? [])
  const faults = overrides.filter(({ type }) => isAgentFault(type))
  const n = reviewed.length

  const opened = all.filter((one) => isAct(one) && isInPeriod(period, one.opened?.at))
  const acted = history.acted.filter(
    (one) => matchesScope(scope, one) && isInPeriod(period, one.at),
  )
  const autonomous = opened.filter(({ auto }) => auto).length + acted.length
  const acts = opened.length + acted.length
  const checks = decided.filter(({ kind }) => kind === 'spot_check')
  const corrected = history.corrected.filter(
    (one) => matchesScope(scope, one) && isInPeriod(period, one.at),
  )
  const isAutonomous = (proposal: string | undefined) =>
    proposal === undefined || history.asked.get(proposal)?.auto === true
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
  const looked = approved.flatMap(({ ended: { lookedMs } }) => lookedMs ?? [])
  const latency = latencyOf(reviewed)
  const handoffs = latencyOf(decided.filter(({ kind }) => kind === 'handoff'))
  const weighted = ratio(
    overrides.reduce((sum, kind) => sum + overrideWeight(kind), 0),
    n,
  )
  const retries = findRetries(all, scope)
  const isRetried = ([override, later]: Retry) =>
    later.some(({ id }) => haveCommon(fields.get(override.id), fields.get(id)))

  return {
    n_reviewed: n,
    approval_rate: rounded(ratio(approved.length, n)),
    approval_interval: n === 0 ? null : intervalOf(approved.length, n),
    accuracy: rounded(ratio(approved.length, approved.length + faults.length)),
    override_rate: rounded(ratio(overrides.length, n)),
    overrides: byKind(overrides, n),
    weighted_override: rounded(weighted),
    autonomous,
    escape_rate: rounded(escapeRate),
    slips_per_100: autonomous === 0 ? null : rounded((100 * escapes) / autonomous),
    checks_drawn: drawn.length,
    alone_error_rate: rounded(ratio(wrong, drawn.length)),
    alone_error_interval: drawn.length === 0 ? null : intervalOf(wrong, drawn.length),
    checks_within_day: rounded(readWithinDay(all, scope, open)),
    automation_rate: rounded(ratio(autonomous, acts)),
    review_load: acts === 0 ? null : rounded((100 * (n + checks.length)) / acts),
    retry_rate: rounded(ratio(retries.filter(isRetried).length, retries.length)),
    rollback_rate: rounded(ratio(undone.size, approved.length + autonomous)),
    latency_p50: rounded(latency.p50),
    latency_p95: rounded(latency.p95),
    handoff_latency_p50: rounded(handoffs.p50),
    handoff_latency_p95: rounded(handoffs.p95),
    confidence_avg: rounded(mean(opened.flatMap(({ confidence }) => confidence ?? []))),
    brier: rounded(brierScore(claims)),
    ece: rounded(ece),
    rubber_stamp_share:
      looked.length < fewestScored
        ? null
        : rounded(ratio(looked.filter((ms) => ms < rubberStampMs).length, looked.length)),
    collaboration_score:
      n < fewestScored
        ? null
        : rounded(
            collaborationScore({
              weightedOverride: weighted ?? 0,
              p95Ms: (latency.p95 ?? 0) * 1000,
              ece: ece ?? 0,
              escape: escapeRate ?? 0,
            }),
          ),
  }
}

/** Of the checks that were opened in the period, and that are read or older than a day. */
function readWithinDay(all: readonly ApprovalRecord[], scope: Scope, open: readonly OpenCheck[]) {
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

/** From 0 to 100 (Q2). What is not known is not held against anyone. */
export const collaborationScore = ({ weightedOverride, p95Ms, ece, escape }: Parts): number =>
  100 *
  (0.35 * (1 - weightedOverride) +
    0.25 * (1 - Math.min(1, p95Ms / slowest)) +
    0.2 * (1 - ece) +
    0.2 * (1 - escape))

type Retry = [override: Decided, later: ApprovalRecord[]]

/** Overridden proposals, each with what the agent proposed on the same target within a day. */
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

/** What a proposal changes in the end: two that differ in it are no second try. */
export const changedFields = (change: unknown, field?: string): string[] =>
  extractFields(change, field)
    .filter(({ value }) => value !== undefined && (typeof value !== 'object' || value === null))
    .map(({ path }) => path)
    // Named by `field`, the value stands under a word that says nothing.
    .filter((path) => field === undefined || (path !== 'value' && path !== 'raw'))

const haveCommon = (some: readonly string[] = [], others: readonly string[] = []) =>
  some.some((field) => others.includes(field))

/** In seconds, of those whose beginning is known. */
function latencyOf(decided: readonly Decided[]) {
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
            rate: rounded(some.length / n) ?? 0,
          },
        ]
      : [],
  )
}

const intervalOf = (part: number, all: number) => {
  const { low, high } = wilsonInterval(part, all)
  return { low: rounded(low) ?? 0, high: rounded(high) ?? 0 }
}

function rounded(value: number): number
function rounded(value: number | null): number | null
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10_000) / 10_000
}
