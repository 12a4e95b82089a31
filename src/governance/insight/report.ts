import { isDemoPair } from '#base/demo.ts'
import type { ApprovalRecord, ExecutionRecord, History, Period } from './history.ts'
import { percentile } from './statistics.ts'
import type { Severity } from '../rules/trust.ts'
import type { Finding, Intervention } from '../wire/report.ts'

/** What is wrong with how agents and people work together, from what the ledger says (G3). Pure. */

const hour = 3_600_000
const slowAfter = 24 * hour
/** Below this nobody has read what was approved. */
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
    what: 'done although nobody approved it',
    recommendation:
      'Look at what was done, correct it with an override, and halt the agent if it goes on.',
  },
  execution_before_approval: {
    severity: 'high',
    what: 'done before it was approved',
    recommendation:
      'Have the agent wait with cowork_check_approval, and override what it did too early.',
  },
  orphaned_execution: {
    severity: 'high',
    what: 'done for a proposal that does not exist',
    recommendation:
      'Ask where the proposal_id comes from: cowork_propose answers it, and nothing else does.',
  },
  different_execution: {
    severity: 'high',
    what: 'done otherwise than it was approved',
    recommendation:
      'Hold what was done against the proposal it names, and override it where nobody allowed it.',
  },
  unanswered_handoff: {
    severity: 'high',
    what: 'handed over and not answered in time',
    recommendation:
      'Answer it in the inbox, and let notify.rules tell the next person where nobody is there.',
  },
  rubber_stamping: {
    severity: 'high',
    what: 'approved faster than it can be read',
    recommendation:
      'Ask for fewer decisions: let trust or a standing permission decide what is always approved, and read the rest.',
  },
  unread_checks: {
    severity: 'high',
    what: 'checks wait unread',
    recommendation:
      'Answer them in the inbox: the agent goes on as soon as they are read. Let notify.rules tell another person where nobody has the time.',
  },
  missing_intent: {
    severity: 'medium',
    what: 'done without saying so before',
    recommendation:
      'Have the agent call cowork_propose first, and log with the proposal_id it was answered.',
  },
  slow_decision: {
    severity: 'medium',
    what: 'not decided within a day, or expired',
    recommendation:
      'Add a reviewer or a channel that tells them, or let agents that have earned it act alone.',
  },
} as const satisfies Record<string, { severity: Severity; what: string; recommendation: string }>

type Kind = keyof typeof findingKinds
type Found = {
  readonly kind: Kind
  readonly seq: number
  readonly agent?: string
  readonly domain?: string
  readonly person?: string
}

const mostEntries = 100

/** One finding for each kind, agent and domain; the worst first. `handoffMs` is how soon an answer is due. */
export function computeFindings(history: History, scope: Scope, handoffMs: number): Finding[] {
  const found = [
    ...executionsOf(history, scope),
    ...waitsOf(history, scope, handoffMs),
    ...stampsOf(history, scope),
  ]
  const grouped = Map.groupBy(found, ({ kind, agent = '', domain = '', person = '' }) =>
    JSON.stringify([kind, agent, domain, person]),
  )
  return [...grouped.values()]
    .flatMap((some) => (some[0] ? [findingOf(some[0], some)] : []))
    .toSorted(byWeight)
}

const order = Object.keys(findingKinds)

/** The worst first, and of one kind the one with the most. */
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

/** Agents that do not act alone because nobody reads their checks (T14). No entry tells of those. */
export const unreadFindingsOf = (standings: readonly Standing[]): Finding[] =>
  standings.flatMap(({ agent_id: agent, domain, classes }) => {
    const count = classes
      .filter(({ cause }) => cause === 'unread')
      .reduce((sum, { checks }) => sum + checks.unread, 0)
    const wait = count === 1 ? '1 check waits unread' : `${count} checks wait unread`
    const { severity, recommendation } = findingKinds.unread_checks
    return count === 0
      ? []
      : [
          {
            kind: 'unread_checks',
            severity,
            title: `${wait}; ${agent} does not act alone until they are answered: ${domain}`,
            count,
            agent_id: agent,
            domain,
            entries: [],
            recommendation,
          },
        ]
  })

function findingOf({ kind, agent, domain, person }: Found, some: readonly Found[]): Finding {
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
    entries: some.map(({ seq }) => seq).slice(-mostEntries),
    recommendation,
  }
}

export const isInPeriod = ({ start, end }: Period, at: number | undefined): boolean =>
  at !== undefined && at >= start && at < end

/** The demo counts only where somebody asks for its agent or its domain (K7). */
export const matchesScope = (
  { agent, domain }: Scope,
  it: Pick<ExecutionRecord, 'agent' | 'domain'>,
): boolean =>
  (agent === undefined || it.agent === agent) &&
  (domain === undefined || it.domain === domain) &&
  (agent !== undefined || domain !== undefined || !isDemoPair(it))

function executionsOf({ asked, executed }: History, scope: Scope): Found[] {
  return executed.flatMap((done): Found[] => {
    const { seq, agent, domain, proposal } = done
    if (!isInPeriod(scope.period, done.at) || !matchesScope(scope, done)) return []
    const kind = executionKind(done, proposal === undefined ? undefined : asked.get(proposal))
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

function waitsOf({ asked }: History, scope: Scope, handoffMs: number): Found[] {
  const { period } = scope
  return [...asked.values()].flatMap((one): Found[] => {
    const { agent, domain, auto, kind, opened, ended } = one
    if (auto || !matchesScope(scope, one)) return []
    // An unknown start is not judged: the wait may have been short.
    const waited = opened && (ended?.at ?? period.end) - opened.at
    if (kind === 'handoff') {
      const isUnanswered = !ended && opened && waited !== undefined && waited >= handoffMs
      return isUnanswered ? [{ kind: 'unanswered_handoff', seq: opened.seq, agent, domain }] : []
    }
    const isSlow = (waited !== undefined && waited > slowAfter) || ended?.as === 'expired'
    const seq = ended ? ended.seq : opened?.seq
    const concerns = !ended || isInPeriod(period, ended.at)
    return isSlow && concerns && seq !== undefined
      ? [{ kind: 'slow_decision', seq, agent, domain }]
      : []
  })
}

/** Who approves nearly everything, and faster than it can be read. */
function stampsOf({ asked }: History, scope: Scope): Found[] {
  const decisions = [...asked.values()].flatMap((one) => {
    const { kind, ended } = one
    const isTheirs =
      kind !== 'handoff' && matchesScope(scope, one) && isInPeriod(scope.period, ended?.at)
    return isTheirs && ended?.by !== undefined ? [{ ...ended, by: ended.by }] : []
  })
  return [...Map.groupBy(decisions, ({ by }) => by)].flatMap(([person, all]): Found[] => {
    const approved = all.filter(({ as }) => as === 'approved')
    const looked = all.flatMap(({ lookedMs }) => lookedMs ?? [])
    const isStamping =
      all.length >= stamping.decisions &&
      approved.length / all.length > stamping.approved &&
      (percentile(looked, 0.5) ?? Infinity) < rubberStampMs
    return isStamping ? approved.map(({ seq }) => ({ kind: 'rubber_stamping', seq, person })) : []
  })
}

/** Where people step in: what they decided, corrected, were handed, and left (the intervention map). */
export function computeInterventions({ asked, corrected }: History, scope: Scope): Intervention[] {
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
  for (const one of asked.values()) {
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
