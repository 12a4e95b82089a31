import type { OverrideType } from '#base/override.ts'
import type { Item, Outcome } from './approval.ts'
import { isCheck } from './approval.ts'
import type { Risk } from '../agents/class-standing.ts'

export type Answer = 'confirm' | 'wrong' | 'differently' | 'skip'

export const answerLabels = {
  confirm: 'Confirm',
  wrong: 'Mark as wrong',
  differently: 'I would have done it differently',
} as const

/** Override types that count as errors; preference and policy changes do not (T11). */
export const errorTypes = ['agent_wrong', 'missing_context', 'edge_case'] as const
export type ErrorType = Extract<OverrideType, (typeof errorTypes)[number]>

/** Recorded reasons that identify an answer when the status alone does not. */
export const reasons = {
  differently: 'I would have done it differently',
  skip: 'Skipped without looking',
}

const answerStatusLabels: Record<Answer, string> = {
  confirm: 'Confirmed',
  wrong: 'Marked as wrong',
  differently: 'Done differently',
  skip: 'Skipped',
}

export function getAnswer({ status, reason }: Pick<Item, 'status' | 'reason'>): Answer | undefined {
  if (status === 'approved') return reason === reasons.skip ? 'skip' : 'confirm'
  if (status === 'rejected') return reason === reasons.differently ? 'differently' : 'wrong'
  return undefined
}

export function formatAnswer(item: Pick<Item, 'status' | 'reason'>): string | undefined {
  const answer = getAnswer(item)
  return answer && answerStatusLabels[answer]
}

/** Whether the check can be answered: not while its answer is deferred. */
export const isPendingCheck = ({ status, held }: Item): boolean => status === 'pending' && !held
const formatCount = (number: number, one: string) => `${number} ${one}${number === 1 ? '' : 's'}`

export function formatChecksTitle(items: readonly [Item, ...Item[]]): string {
  const [{ requester, look_back: lookBack }] = items
  return lookBack === undefined
    ? `${formatCount(items.length, 'check')} of ${requester}`
    : `Look-back: ${formatCount(items.length, 'action')} of ${requester}`
}

/** Formats the pending checks for the list; a single check shows its action. */
export function formatChecksLine(items: readonly [Item, ...Item[]]): string {
  const [first, ...rest] = items.filter(isPendingCheck)
  if (!first) return formatChecksTitle(items)
  return rest.length === 0 && first.look_back === undefined
    ? first.summary
    : formatChecksTitle([first, ...rest])
}

export const formatProgress = (items: readonly Item[]): string =>
  `${items.filter((item) => !isPendingCheck(item)).length} of ${items.length} answered`

type CheckSources = {
  readonly queued: Iterable<Item>
  /** All rows of the look-back, including answered ones. */
  readonly listed: readonly Item[]
  /** When the group was opened; checks answered since then stay visible. */
  readonly since: number
}

/** Returns the checks of a group, oldest first. */
export function listChecks(item: Item, { queued, listed, since }: CheckSources): [Item, ...Item[]] {
  const isShown = (other: Item) =>
    isPendingCheck(other) ||
    other.look_back !== undefined ||
    Date.parse(other.decided_at ?? '') >= since
  const rows = new Map<string, Item>()
  for (const other of [...listed, ...queued])
    if (isCheck(other) && other.group === item.group && isShown(other)) rows.set(other.id, other)
  rows.delete(item.id)
  const [first = item, ...rest] = [item, ...rows.values()].toSorted(
    (a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id),
  )
  return [first, ...rest]
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the next pending check after this one, then from the top. */
export function findNextPending(items: readonly Item[], after: string): Item | undefined {
  const at = items.findIndex(({ id }) => id === after)
  return [...items.slice(at + 1), ...items.slice(0, Math.max(at, 0))].find(isPendingCheck)
}

export type RiskClass = { readonly domain: string; readonly risk: Risk }

export function listRiskClasses(items: readonly Item[]): RiskClass[] {
  const classes = new Map(
    items.map(({ domain, risk }) => [JSON.stringify([domain, risk]), { domain, risk }]),
  )
  return [...classes.values()]
}

/** Formats the side effects of an answer; undefined if there are none. */
export function formatAnswerEffects(
  answer: Answer,
  { look_back: others = 0, counted }: Pick<Outcome, 'look_back' | 'counted'>,
  { wasOpen, isOpen }: { readonly wasOpen: boolean; readonly isOpen: boolean },
): string | undefined {
  const gate = wasOpen !== isOpen && (isOpen ? 'Gate opened.' : 'Gate closed.')
  const lookBackText =
    others === 1
      ? '1 other autonomous action added to the inbox.'
      : others > 0 && `${others} other autonomous actions added to the inbox.`
  const uncountedText = counted === false && 'Trust unchanged.'
  const effects = [uncountedText, gate, lookBackText].filter((part) => part !== false)
  return effects.length === 0 ? undefined : [`${answerStatusLabels[answer]}.`, ...effects].join(' ')
}
