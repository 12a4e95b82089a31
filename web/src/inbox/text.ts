import { isCheck } from './approval.ts'
import type { OverrideType, Severity } from '#base/override.ts'
import type {
  Decision,
  HandoffMode,
  Item,
  Mode,
  Outcome,
  PastDecision,
  Status,
} from './approval.ts'
import { formatAgo } from '../shared/time.ts'
import { formatAnswer } from './check.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export const formatScore = (value: number): string => value.toFixed(2)

/** Formats a change as `+0.02` or `−0.12`, with a minus sign and up to four digits. */
export function formatSigned(change: number): string {
  const size = Math.abs(Math.round(change * 10_000) / 10_000)
  const digits = size.toFixed(4).replace(/0{1,2}$/, '')
  return `${change < 0 ? '−' : '+'}${digits}`
}

export const formatPercent = (share: number): string => `${Math.round(share * 100)}%`

/** Formats an age in its shortest form. */
export function formatAge(at: number, now: number): string {
  const elapsed = now - at
  if (elapsed < minute) return 'now'
  if (elapsed < hour) return `${Math.floor(elapsed / minute)} min`
  return elapsed < day ? `${Math.floor(elapsed / hour)} h` : `${Math.floor(elapsed / day)} d`
}

/** Formats a time in seconds during the first minute. */
export function formatSince(at: number, now: number): string {
  const passed = Math.max(0, now - at)
  return passed < minute ? `${Math.floor(passed / 1000)} s ago` : formatAgo(at, now)
}

/** Formats `8:12` or `5 h`; undefined if more than a day is left. */
export function formatExpiry(expires: string | null, now: number): string | undefined {
  if (expires === null) return undefined
  const remaining = Date.parse(expires) - now
  if (remaining >= day) return undefined
  if (remaining <= 0) return 'expired'
  if (remaining >= hour) return `expires in ${Math.floor(remaining / hour)} h`
  return `expires in ${clock(remaining)}`
}

/** Whether the text of `formatExpiresIn` changes every second. */
export const updatesEverySecond = (expires: string | null, now: number): boolean =>
  expires !== null && Date.parse(expires) - now < hour

const clock = (ms: number) =>
  `${Math.floor(ms / minute)}:${String(Math.floor((ms % minute) / 1000)).padStart(2, '0')}`

export const secondsUntil = (until: string, now: number): number =>
  Math.max(0, Math.round((Date.parse(until) - now) / 1000))

export const formatMode = (mode: Mode, trust: number | null): string =>
  trust === null ? mode : `${mode} ${formatScore(trust)}`

/** Labels for the mode of an agent in a domain. */
export const levelLabels: Record<Mode, string> = {
  act: 'Autonomous',
  suggest: 'Supervised',
  escalate: 'Probation',
}

export function formatRisk({ risk, kind }: Pick<Item, 'risk' | 'kind'>): string | undefined {
  if (risk !== 'high') return undefined
  return kind === 'proposal' ? 'high-risk field' : 'high risk'
}

export function formatQuorum({ approvers }: Pick<Item, 'approvers'>): string | undefined {
  const { needed, given } = approvers
  return needed > 1 ? `${given.length} of ${needed}` : undefined
}

const statusLabels: Record<Exclude<Status, 'pending'>, string> = {
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
  consumed: 'Executed',
}

export function formatEndState({
  kind,
  status,
  ...more
}: Pick<Item, 'kind' | 'status' | 'reason'>): string {
  if (status === 'pending') return 'Pending'
  if (kind === 'spot_check') return formatAnswer({ status, ...more }) ?? statusLabels[status]
  if (kind !== 'handoff') return statusLabels[status]
  if (status === 'consumed') return 'Resolved, acknowledged'
  return status === 'approved' ? 'Resolved' : statusLabels[status]
}

const handoffLabels: Record<HandoffMode, string> = {
  escalate: 'Blocked',
  review: 'Review requested',
  collaborate: 'Collaboration requested',
  delegate: 'Delegated to you',
  takeover: 'Takeover requested',
}

/** Formats a handoff mode; an unknown mode keeps its own name. */
export const formatHandoffMode = (mode: string): string =>
  Object.hasOwn(handoffLabels, mode)
    ? handoffLabels[mode as HandoffMode]
    : mode.replaceAll('_', ' ')

/** Formats the end of an item, such as “Approved by Ben 3 s ago”. */
export function formatDecision(item: Item, who: string, when: string): string {
  if (item.status === 'expired') return 'Expired without a decision'
  if (item.status === 'withdrawn' && item.reason)
    return item.reason === 'stale'
      ? 'Not run: the target changed after the request'
      : `Not run: ${item.reason}`
  if (item.status === 'withdrawn')
    return item.decided_by === item.requester
      ? 'Withdrawn by the agent'
      : `Closed: ${who} revoked the agent ${when}`
  const check = item.kind === 'spot_check' && formatAnswer(item)
  if (check) return `${check} by ${who} ${when}`
  const verb =
    item.status === 'rejected' ? 'Rejected' : item.kind === 'handoff' ? 'Resolved' : 'Approved'
  return `${verb} by ${item.auto ? 'trust' : who} ${when}`
}

/** Formats an earlier decision on the same target: `You approved`, `Ben overrode`. */
export function formatPastDecision({ status, trust_change }: PastDecision, who: string): string {
  if (status === 'expired' || status === 'withdrawn' || status === 'pending')
    return formatUndecided(status)
  if (status !== 'rejected') return `${who} approved`
  return `${who} ${trust_change === null ? 'rejected' : 'overrode'}`
}

const formatUndecided = (status: 'expired' | 'withdrawn' | 'pending') =>
  status === 'expired' ? 'Expired' : status === 'pending' ? 'Pending' : 'Withdrawn'

/** Formats the effect of an approval on trust (C2). */
export function formatTrustEffect(effect: { from: number; to: number } | null): string | undefined {
  if (!effect) return undefined
  const { from, to } = effect
  if (from === to) return `Trust unchanged: ${formatScore(from)}`
  const change = formatSigned(to - from).slice(1)
  return `Approving ${to > from ? 'adds' : 'removes'} ${change}: ${formatScore(from)} → ${formatScore(to)}`
}

type OutcomeFields = Omit<Partial<Outcome>, 'status'> & { readonly status: string }

export function formatOutcome(outcome: OutcomeFields): string {
  const { also = [], error } = outcome
  if (error) return error.message
  if (also.length === 0) return formatStatus(outcome)
  const more = also.length === 1 ? '1 more request' : `${also.length} more requests`
  return `${formatStatus(outcome)} Also applies to ${more} of this agent.`
}

function formatStatus({ status, trust }: OutcomeFields): string {
  const done: Readonly<Record<string, string>> = {
    approved: 'Approved',
    rejected: 'Rejected',
    voted: 'Approval recorded',
    held: 'Decided',
  }
  const word = done[status] ?? 'Not decided'
  if (status === 'voted') return `${word}. 1 more approval required.`
  if (!trust || trust.from === trust.to) return `${word}.`
  const levelChange = trust.promoted ? ' and promoted' : trust.demoted ? ' and demoted' : ''
  return `${word}. Trust ${formatScore(trust.from)} → ${formatScore(trust.to)}${levelChange}.`
}

/** Returns the verdict of a decision that can be undone. */
export function formatVerdict(items: readonly Item[], { decision, skip }: Decision): string {
  if (!items.every(isCheck)) return decision === 'approve' ? 'Approved' : 'Rejected'
  return skip ? 'Skipped' : decision === 'approve' ? 'Confirmed' : 'Answered'
}

export const overrideLabels: Record<OverrideType, { name: string; means: string }> = {
  agent_wrong: {
    name: 'The agent is wrong',
    means: 'The agent had the information and was wrong.',
  },
  missing_context: { name: 'Missing context', means: 'The agent lacked information.' },
  edge_case: { name: 'Edge case', means: 'Usually right, wrong in this case.' },
  human_preference: { name: 'My preference', means: 'Not wrong, but I prefer another way.' },
  policy_change: { name: 'The policy changed', means: 'Correct under the previous policy.' },
}

export const severityLabels: Record<Severity, string> = {
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  critical: 'Critical',
}

/** Returns the label of the negative decision; GR3 names it for an access request. */
export const rejectLabel = ({ kind }: Pick<Item, 'kind'>): string => {
  if (kind === 'grant') return 'Deny'
  if (kind === 'finding') return 'Revoke access'
  return kind === 'spot_check' ? 'Mark as wrong' : 'Reject'
}

/** Returns the common words of the summaries, with `…` for the difference: “Set priority of … to high”. */
export function commonSummary(items: readonly Pick<Item, 'summary'>[]): string {
  const [first = [], ...rest] = items.map(({ summary }) => summary.split(' '))
  const shortest = Math.min(first.length, ...rest.map((words) => words.length))
  let head = 0
  while (head < shortest && rest.every((words) => words[head] === first[head])) head++
  if (head === first.length && rest.every((words) => words.length === head)) return first.join(' ')
  let tail = 0
  while (
    tail < shortest - head &&
    rest.every((words) => words.at(-1 - tail) === first.at(-1 - tail))
  )
    tail++
  return [...first.slice(0, head), '…', ...first.slice(first.length - tail)].join(' ')
}

export type NamePart = { readonly text: string; readonly isName: boolean }

/** Splits a sentence into names and other text. */
export function splitNames(sentence: string, names: readonly string[]): NamePart[] {
  const parts: NamePart[] = []
  let from = 0
  while (from < sentence.length) {
    const next = names
      .filter((name) => name !== '')
      .map((name) => ({ name, at: sentence.indexOf(name, from) }))
      .filter(({ at }) => at !== -1)
      .toSorted((a, b) => a.at - b.at || b.name.length - a.name.length)[0]
    if (!next) break
    if (next.at > from) parts.push({ text: sentence.slice(from, next.at), isName: false })
    parts.push({ text: next.name, isName: true })
    from = next.at + next.name.length
  }
  if (from < sentence.length) parts.push({ text: sentence.slice(from), isName: false })
  return parts
}
