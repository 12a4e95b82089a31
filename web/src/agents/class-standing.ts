import type { ToolResults } from '#wire'
import type { Mode, Thresholds } from '../inbox/approval.ts'

/** The autonomy of an agent in a domain and risk class (T11, T14). */
export type ClassStanding = ToolResults['cowork_standing']['standings'][number]['classes'][number]
export type Risk = ClassStanding['risk']
type Level = ClassStanding['level']
type Classes = readonly ClassStanding[]
type KindCredit = ClassStanding['kinds'][number]

/** A level has the color and icon of its mode. */
export const modeOfLevel: Record<Level, Mode> = {
  autonomous: 'act',
  supervised: 'suggest',
  probation: 'escalate',
}

export const riskLabels: Record<Risk, string> = {
  low: 'Low risk',
  normal: 'Normal risk',
  high: 'High risk',
}

/** Parts of the bar width: debt from the left to zero, then earned credit. */
export type CreditBar = { readonly zero: number; readonly debt: number; readonly earned: number }

/** Leaves space for earned credit at any debt. */
const maxDebtShare = 0.85

export function computeCreditBar({ now, needed }: ClassStanding['credit']): CreditBar {
  if (now >= 0) return { zero: 0, debt: 0, earned: Math.min(1, now / needed) }
  const zero = Math.min(maxDebtShare, -now / (needed - now))
  return { zero, debt: zero, earned: 0 }
}

export const formatCredit = ({ now, needed }: ClassStanding['credit']): string =>
  now < 0 ? `debt ${-now}, ${needed - now} to go` : `${now} of ${needed}`

/** Describes the strikes; undefined if there are none. */
export function formatStrikes({ strikes }: Pick<ClassStanding, 'strikes'>): string | undefined {
  const { now, forgiven_after: after } = strikes
  if (now === 0 || after === undefined) return undefined
  const count = now === 1 ? '1 strike' : `${now} strikes`
  const checks = after === 1 ? '1 clean check' : `${after} clean checks`
  return `${count}, ${now === 1 ? '' : 'one '}forgiven after ${checks}`
}

export const formatKindCredit = ({ to_go }: KindCredit): string =>
  to_go === 0 ? 'complete' : `${to_go} more`

export function formatChecks({ checks }: Pick<ClassStanding, 'checks'>): string | undefined {
  const { unread, look_back: lookBack } = checks
  if (unread === 0) return undefined
  if (lookBack === unread)
    return `Look-back: ${unread === 1 ? '1 action' : `${unread} actions`} pending`
  return unread === 1 ? '1 check pending' : `${unread} checks pending`
}

export const isForgivable = ({ strikes, credit, kinds }: ClassStanding): boolean =>
  strikes.now > 0 || credit.now < 0 || kinds.some((kind) => kind.credit < 0)

export function formatForgiveness({ strikes, credit }: ClassStanding): string {
  const parts = [
    strikes.now > 0 && (strikes.now === 1 ? '1 strike' : `${strikes.now} strikes`),
    credit.now < 0 && `a debt of ${-credit.now}`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts.join(' and ') : 'the debts of its kinds of action'
}

/** A manual score from this value opens the gate (T16). */
const autonomousScore = 0.8

/** Describes the consequence of a manual score. */
export function describeSetTrust(
  to: number,
  { suggest, act }: Thresholds,
  classes: Classes,
): string {
  if (to < Math.max(autonomousScore, act))
    return `No autonomy: a person approves every action in advance${to < suggest ? ', with urgent priority' : ''}.`
  const blockedRisks = classes
    .filter((it) => it.risk !== 'high' && isForgivable(it))
    .map(({ risk }) => risk)
  if (blockedRisks.length === 2)
    return 'No autonomy: the agent has strikes or debts. Forgive them first.'
  const except = blockedRisks.map((risk) => ` Not at ${risk} risk, because of strikes or debts.`)
  return `Autonomous at low and normal risk until its first error, never at high risk.${except.join('')} Reviews confirm or lower the score later.`
}
