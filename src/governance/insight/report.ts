import { isDemoPair } from '#base/demo.ts'
import type { ApprovalRecord, ExecutionRecord, History, Period } from './history.ts'
import { percentile } from './statistics.ts'
import type { Severity } from '../rules/trust.ts'
import type { Finding, Intervention } from '../wire/report.ts'

/** Finds problems in how agents and people work together, from the ledger (G3). Pure. */

const hour = 3_600_000
const slowAfterMs = 24 * hour
/** A faster approval cannot have been read. */
export const rubberStampMs = 3000
const stamping = { decisions: 50, approved: 0.95 }

export type Scope = {
  readonly agent?: string | undefined
  readonly domain?: string | undefined
  readonly period: Period
}

export const findingKinds = {
  missing_approval: {
    severity: 'critical',
    what: 'done without approval',
    recommendation:
      'Review the action, correct it with an override, and halt the agent if it continues.',
  },
  execution_before_approval: {
    severity: 'high',
    what: 'done before approval',
    recommendation:
      'Have the agent wait with cowork_check_approval, and override what it did before.',
  },
  orphaned_execution: {
    severity: 'high',
    what: 'done for an unknown proposal',
    recommendation: 'Find out where the proposal_id comes from: only cowork_propose returns one.',
  },
  different_execution: {
    severity: 'high',
    what: 'done differently than approved',
    recommendation: 'Compare the action with its proposal, and override what was not approved.',
  },
  unanswered_handoff: {
    severity: 'high',
    what: 'handed over without an answer in time',
    recommendation: 'Answer it in the inbox, and let notify.rules notify another person.',
  },
  rubber_stamping: {
    severity: 'high',
    what: 'approved faster than reading time',
    recommendation:
      'Ask for fewer decisions: let trust or a standing permission decide routine requests, and read the rest.',
  },
  unread_checks: {
    severity: 'high',
    what: 'unread checks',
    recommendation:
      'Answer them in the inbox: then the agent acts alone again. Let notify.rules notify another person if nobody has time.',
  },
  missing_intent: {
    severity: 'medium',
    what: 'done without a proposal',
    recommendation:
      'Have the agent call cowork_propose first, and log with the returned proposal_id.',
  },
  slow_decision: {
    severity: 'medium',
    what: 'not decided within a day, or expired',
    recommendation: 'Add a reviewer or a notification channel, or let trusted agents act alone.',
  },
} as const satisfies Record<string, { severity: Severity; what: string; recommendation: string }>

type Kind = keyof typeof findingKinds
type FindingEntry = {
  readonly kind: Kind
  readonly seq: number
  readonly agent?: string
  readonly domain?: string
  readonly person?: string
}

const maxEntries = 100

/**
 * Returns one finding for each kind, agent and domain, most severe first. An answer to a handoff is due after
 * `handoffMs`.
 */
export function computeFindings(history: History, scope: Scope, handoffMs: number): Finding[] {
  const entries = [
    ...findExecutionIssues(history, scope),
    ...findSlowRequests(history, scope, handoffMs),
    ...findRubberStamping(history, scope),
  ]
  const grouped = Map.groupBy(entries, ({ kind, agent = '', domain = '', person = '' }) =>
    JSON.stringify([kind, agent, domain, person]),
  )
  return [...grouped.values()]
    .flatMap((some) => (some[0] ? [buildFinding(some[0], some)] : []))
    .toSorted(byWeight)
}

const order = Object.keys(findingKinds)

/** Most severe first; within a kind, the highest count first. */
export const byWeight = (a: Finding, b: Finding): number =>
  order.indexOf(a.kind) - order.indexOf(b.kind) || b.count - a.count

export type Standing = {
  readonly agent_id: string
  readonly domain: string
  readonly classes: readonly {
    readonly cause?: string
    readonly checks: { readonly unread: number }
  }[]
}

/** Finds agents that do not act alone because their checks are unread (T14). No entry records that. */
export const findUnreadChecks = (standings: readonly Standing[]): Finding[] =>
  standings.flatMap(({ agent_id: agent, domain, classes }) => {
    const count = classes
      .filter(({ cause }) => cause === 'unread')
      .reduce((sum, { checks }) => sum + checks.unread, 0)
    const title = count === 1 ? '1 unread check' : `${count} unread checks`
    const { severity, recommendation } = findingKinds.unread_checks
    return count === 0
      ? []
      : [
          {
            kind: 'unread_checks',
            severity,
            title: `${title}; ${agent} does not act alone until they are answered: ${domain}`,
            count,
            agent_id: agent,
            domain,
            entries: [],
            recommendation,
          },
        ]
  })

function buildFinding(
  { kind, agent, domain, person }: FindingEntry,
  some: readonly FindingEntry[],
): Finding {
  const { severity, what, recommendation } = findingKinds[kind]
  const who = person ?? agent
  return {
    kind,
    severity,
    title: `${some.length} ${what}: ${[who, domain].filter(Boolean).join(' in ')}`,
    count: some.length,
    ...(agent !== undefined && { agent_id: agent }),
    ...(domain !== undefined && { domain }),
    ...(person !== undefined && { person_id: person }),
    entries: some.map(({ seq }) => seq).slice(-maxEntries),
    recommendation,
  }
}

export const isInPeriod = ({ start, end }: Period, at: number | undefined): boolean =>
  at !== undefined && at >= start && at < end

/** Demo records count only if their agent or domain is requested (K7). */
export const matchesScope = (
  { agent, domain }: Scope,
  item: Pick<ExecutionRecord, 'agent' | 'domain'>,
): boolean =>
  (agent === undefined || item.agent === agent) &&
  (domain === undefined || item.domain === domain) &&
  (agent !== undefined || domain !== undefined || !isDemoPair(item))

function findExecutionIssues({ requests, executed }: History, scope: Scope): FindingEntry[] {
  return executed.flatMap((done): FindingEntry[] => {
    const { seq, agent, domain, proposal } = done
    if (!isInPeriod(scope.period, done.at) || !matchesScope(scope, done)) return []
    const kind = executionKind(done, proposal === undefined ? undefined : requests.get(proposal))
    return kind ? [{ kind, seq, agent, domain }] : []
  })
}

function executionKind(done: ExecutionRecord, asked: ApprovalRecord | undefined): Kind | undefined {
  if (done.proposal === undefined) return 'missing_intent'
  if (asked?.kind !== 'proposal' || asked.agent !== done.agent) return 'orphaned_execution'
  const { auto, ended } = asked
  if (!auto && ended?.as !== 'approved') return 'missing_approval'
  if (!auto && ended && done.seq < ended.seq) return 'execution_before_approval'
  return isSame(asked, done) ? undefined : 'different_execution'
}

const isSame = (asked: ApprovalRecord, { domain, action, target }: ExecutionRecord) =>
  asked.domain === domain && asked.action === action && asked.target === target

function findSlowRequests({ requests }: History, scope: Scope, handoffMs: number): FindingEntry[] {
  const { period } = scope
  return [...requests.values()].flatMap((one): FindingEntry[] => {
    const { agent, domain, auto, kind, opened, ended } = one
    if (auto || !matchesScope(scope, one)) return []
    // Without a known start the wait may have been short.
    const waitMs = opened && (ended?.at ?? period.end) - opened.at
    if (kind === 'handoff') {
      const isUnanswered = !ended && opened && waitMs !== undefined && waitMs >= handoffMs
      return isUnanswered ? [{ kind: 'unanswered_handoff', seq: opened.seq, agent, domain }] : []
    }
    const isSlow = (waitMs !== undefined && waitMs > slowAfterMs) || ended?.as === 'expired'
    const seq = ended ? ended.seq : opened?.seq
    const isRelevant = !ended || isInPeriod(period, ended.at)
    return isSlow && isRelevant && seq !== undefined
      ? [{ kind: 'slow_decision', seq, agent, domain }]
      : []
  })
}

/** Finds people who approve nearly everything, faster than they can read it. */
function findRubberStamping({ requests }: History, scope: Scope): FindingEntry[] {
  const decisions = [...requests.values()].flatMap((one) => {
    const { kind, ended } = one
    const isTheirs =
      kind !== 'handoff' && matchesScope(scope, one) && isInPeriod(scope.period, ended?.at)
    return isTheirs && ended?.by !== undefined ? [{ ...ended, by: ended.by }] : []
  })
  return [...Map.groupBy(decisions, ({ by }) => by)].flatMap(([person, all]): FindingEntry[] => {
    const approved = all.filter(({ as }) => as === 'approved')
    const reviewTimes = all.flatMap(({ reviewMs }) => reviewMs ?? [])
    const isStamping =
      all.length >= stamping.decisions &&
      approved.length / all.length > stamping.approved &&
      (percentile(reviewTimes, 0.5) ?? Infinity) < rubberStampMs
    return isStamping ? approved.map(({ seq }) => ({ kind: 'rubber_stamping', seq, person })) : []
  })
}

/** Counts where people intervene: decisions, corrections, handoffs and expired requests (the intervention map). */
export function computeInterventions(
  { requests, corrected }: History,
  scope: Scope,
): Intervention[] {
  type Count = 'approvals' | 'overrides' | 'handoffs' | 'expired'
  const counts = new Map<string, Intervention>()
  const count = ({ agent, domain }: Pick<ExecutionRecord, 'agent' | 'domain'>, what: Count) => {
    const key = JSON.stringify([agent, domain])
    const known = counts.get(key) ?? {
      agent_id: agent,
      domain,
      approvals: 0,
      overrides: 0,
      handoffs: 0,
      expired: 0,
    }
    counts.set(key, { ...known, [what]: known[what] + 1 })
  }
  for (const one of requests.values()) {
    if (!matchesScope(scope, one)) continue
    if (one.kind === 'handoff') {
      if (isInPeriod(scope.period, one.opened?.at)) count(one, 'handoffs')
      continue
    }
    const { ended } = one
    if (!ended || !isInPeriod(scope.period, ended.at)) continue
    if (ended.as === 'expired') count(one, 'expired')
    else if (ended.override) count(one, 'overrides')
    else if (ended.as === 'approved' && ended.by !== undefined) count(one, 'approvals')
  }
  for (const one of corrected)
    if (matchesScope(scope, one) && isInPeriod(scope.period, one.at)) count(one, 'overrides')
  return [...counts.values()].toSorted(
    (a, b) => a.agent_id.localeCompare(b.agent_id) || a.domain.localeCompare(b.domain),
  )
}
