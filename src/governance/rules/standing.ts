import { createHmac } from 'node:crypto'
import type { Config } from '#base/config/index.ts'

/** Decides when an agent may act alone (T11, T13, T14). Pure: whole numbers and times come in, values go out. */

export type TrustStanding = {
  /** Correct actions that people reviewed, up to 25; a negative value is a debt. */
  readonly credit: number
  /** Mistakes in autonomous actions that are not forgiven yet. */
  readonly strikes: number
  /** Consecutive clean checks. */
  readonly clean: number
}

export const newStanding: TrustStanding = { credit: 0, strikes: 0, clean: 0 }

/** `trust.mistake_price`, `trust.unread_checks` and `trust.spot_check_rate`. */
export type StandingRules = {
  readonly price: number
  readonly maxUnread: number
  readonly checkRate: number
}

export const toStandingRules = ({ trust }: Pick<Config, 'trust'>): StandingRules => ({
  price: trust.mistake_price,
  maxUnread: trust.unread_checks,
  checkRate: trust.spot_check_rate,
})

export const creditToAct = 25
export const kindCreditToAct = 5
/** An autonomous action says more about the agent than one that it knew would be reviewed. */
export const uncheckedWorth = 5
export const maxStrikes = 4
export const checksPerForgiveness = 15
const maxUnreadAgeMs = 3 * 24 * 60 * 60 * 1000
const lookBackCount = 10
const lookBackNewest = 5
export const lookBackWindow = 50
const halfLifeDays = 17

/** Number of consecutive clean checks where a step starts, and its rate as a multiple of `trust.spot_check_rate`. */
const steps = [
  { from: 45, factor: 0.4 },
  { from: 5, factor: 1 },
  { from: 0, factor: 5 },
] as const

/** A debt is at most the price of 16 mistakes, that of a kind of action at most 3. */
const minCredit = ({ price }: StandingRules) => -16 * price
const minKindCredit = ({ price }: StandingRules) => -3 * price

/** Applies a correct action: a requested one, or, worth more, an autonomous one. */
export const applyRight = (standing: TrustStanding, worth = 1): TrustStanding => ({
  ...standing,
  credit: Math.min(creditToAct, standing.credit + worth),
})

export const applyRightOfKind = (kind: number, worth = 1): number =>
  Math.min(kindCreditToAct, kind + worth)

/** Applies a mistake found before the action ran: the class is not charged, because nothing happened. */
export const applyWrongAsked = (rules: StandingRules, kind: number, weight: number): number =>
  Math.min(kind, Math.max(minKindCredit(rules), kind - Math.round(rules.price * weight)))

/**
 * Applies a mistake in an autonomous action. Even a light one is a strike: otherwise an agent that is slightly wrong
 * whenever nobody reviews could get away with hundreds of actions (ADR 0029).
 */
export function applyWrongAlone(
  rules: StandingRules,
  standing: TrustStanding,
  weight: number,
): TrustStanding {
  if (weight === 0) return standing
  const loss = Math.round(rules.price * weight * 2 ** standing.strikes)
  const strikes = Math.min(maxStrikes, standing.strikes + 1)
  return { credit: Math.max(minCredit(rules), standing.credit - loss), strikes, clean: 0 }
}

export const applyWrongAloneOfKind = (kind: number, weight: number): number =>
  weight === 0 ? kind : Math.min(kind, 0)

export function applyCleanCheck(standing: TrustStanding): TrustStanding {
  const clean = standing.clean + 1
  const isForgiven = clean % checksPerForgiveness === 0
  const strikes = isForgiven ? Math.max(0, standing.strikes - 1) : standing.strikes
  return applyRight({ ...standing, clean, strikes }, uncheckedWorth)
}

export const checksToForgiveness = ({ clean }: TrustStanding): number =>
  checksPerForgiveness - (clean % checksPerForgiveness)

/** Returns the share of autonomous actions that are checked afterwards. */
export function checkRate(rules: StandingRules, { clean }: TrustStanding): number {
  const step = steps.find(({ from }) => clean >= from) ?? steps[2]
  return Math.min(1, rules.checkRate * step.factor)
}

export const isSampled = (rules: StandingRules, standing: TrustStanding, draw: number): boolean =>
  draw < checkRate(rules, standing)

/** Returns a number from 0 up to 1, the same for the same action and unpredictable without the key. */
export const computeDraw = (key: Buffer, id: string): number =>
  createHmac('sha256', key).update(id).digest().readUIntBE(0, 6) / 2 ** 48

export type Unread = { readonly count: number; readonly oldestMs: number }

type GateCause = 'mistake' | 'kind_wrong' | 'unproven' | 'kind_new' | 'unread' | 'unchecked'

export type Closed = {
  readonly cause: GateCause
  readonly toGo: number
}

/**
 * Returns the first reason why the gate is closed; undefined while it is open. `kind` is the credit of the kind of
 * action.
 */
export function gateClosed(
  rules: StandingRules,
  standing: TrustStanding,
  kind: number,
  unread: Unread,
): Closed | undefined {
  const { credit, strikes } = standing
  const toGo = Math.max(creditToAct - credit, kindCreditToAct - kind)
  const isLow = credit < creditToAct
  if (toGo > 0) {
    const byKind = kind < 0 ? 'kind_wrong' : isLow ? 'unproven' : 'kind_new'
    return { cause: isLow && strikes > 0 ? 'mistake' : byKind, toGo }
  }
  if (isUnreadTooLong(rules, unread)) return { cause: 'unread', toGo: 0 }
  // Without checks nobody would notice mistakes.
  return rules.checkRate === 0 ? { cause: 'unchecked', toGo: 0 } : undefined
}

const isUnreadTooLong = ({ maxUnread }: StandingRules, { count, oldestMs }: Unread) =>
  count >= maxUnread || oldestMs > maxUnreadAgeMs

/**
 * Selects actions for review after a mistake: the newest ones, and a random choice of those before. `alone` contains
 * unreviewed actions, newest first; `draws` one number for each.
 */
export function selectLookBack<A>(alone: readonly A[], draws: readonly number[]): A[] {
  const near = alone.slice(0, lookBackNewest)
  const far = alone.slice(lookBackNewest, lookBackWindow)
  const byLot = far
    .map((action, index) => ({ action, draw: draws[lookBackNewest + index] ?? 1 }))
    .toSorted((one, other) => one.draw - other.draw)
    .map(({ action }) => action)
  return [...near, ...byLot].slice(0, lookBackCount)
}

/** Idle time proves nothing: credit decays, strikes and debts do not. */
export function applyIdleDecay(standing: TrustStanding, idleDays: number): TrustStanding {
  const left = 0.5 ** (idleDays / halfLifeDays)
  const { credit, clean } = standing
  return {
    ...standing,
    credit: credit > 0 ? Math.floor(credit * left) : credit,
    clean: Math.floor(clean * left),
  }
}

/** 0 to 0.8 for readers of the seed's field: 0.8 where no right action is missing. */
export const computeEvidenceLevel = (toGo: number): number =>
  Math.max(0, 0.8 * (1 - toGo / creditToAct))
