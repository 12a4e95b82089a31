import { createHmac } from 'node:crypto'
import type { Config } from '#base/config/index.ts'

/** When an agent may act alone (T11, T13, T14). Pure: whole numbers and times come in, values go out. */

export type TrustStanding = {
  /** Right actions that people saw, up to 25; below 0 it is a debt. */
  readonly credit: number
  /** Mistakes that were found in what it did alone, and that are not forgiven yet. */
  readonly strikes: number
  /** Checks in a row that found nothing wrong. */
  readonly clean: number
}

export const newStanding: TrustStanding = { credit: 0, strikes: 0, clean: 0 }

/** `trust.mistake_price`, `trust.unread_checks` and `trust.spot_check_rate`. */
export type StandingRules = {
  readonly price: number
  readonly maxUnread: number
  readonly checkRate: number
}

export const standingRulesOf = ({ trust }: Pick<Config, 'trust'>): StandingRules => ({
  price: trust.mistake_price,
  maxUnread: trust.unread_checks,
  checkRate: trust.spot_check_rate,
})

export const creditToAct = 25
export const kindCreditToAct = 5
/** What it did without knowing that it would be looked at says more than what it does while it asks. */
export const uncheckedWorth = 5
export const maxStrikes = 4
export const checksPerForgiveness = 15
const maxUnreadAgeMs = 3 * 24 * 60 * 60 * 1000
const lookBackCount = 10
const lookBackNewest = 5
export const lookBackWindow = 50
const halfLifeDays = 17

/** Clean checks in a row from which a step begins, and its rate as a multiple of `trust.spot_check_rate`. */
const steps = [
  { from: 45, factor: 0.4 },
  { from: 5, factor: 1 },
  { from: 0, factor: 5 },
] as const

/** A debt never grows beyond the price of 16 mistakes, that of a kind of action beyond 3. */
const minCredit = ({ price }: StandingRules) => -16 * price
const minKindCredit = ({ price }: StandingRules) => -3 * price

/** Seen right: while it asked, or, worth more, in what it did alone. */
export const applyRight = (standing: TrustStanding, worth = 1): TrustStanding => ({
  ...standing,
  credit: Math.min(creditToAct, standing.credit + worth),
})

export const applyRightOfKind = (kind: number, worth = 1): number =>
  Math.min(kindCreditToAct, kind + worth)

/** Found wrong before it was done: the class is not charged, since nothing happened. */
export const applyWrongAsked = (rules: StandingRules, kind: number, weight: number): number =>
  Math.min(kind, Math.max(minKindCredit(rules), kind - Math.round(rules.price * weight)))

/**
 * Found wrong after it was done alone. However light, it is a strike: an agent that is only a little wrong, whenever
 * nobody looks, would else slip hundreds of actions (ADR 0029).
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

/** The share of what it does alone that is checked afterwards. */
export function checkRate(rules: StandingRules, { clean }: TrustStanding): number {
  const step = steps.find(({ from }) => clean >= from) ?? steps[2]
  return Math.min(1, rules.checkRate * step.factor)
}

export const isSampled = (rules: StandingRules, standing: TrustStanding, draw: number): boolean =>
  draw < checkRate(rules, standing)

/** From 0 up to 1, the same for the same action; nobody without the key knows it beforehand. */
export const computeDraw = (key: Buffer, id: string): number =>
  createHmac('sha256', key).update(id).digest().readUIntBE(0, 6) / 2 ** 48

export type Unread = { readonly count: number; readonly oldestMs: number }

type GateCause = 'mistake' | 'kind_wrong' | 'unproven' | 'kind_new' | 'unread' | 'unchecked'

export type Closed = {
  readonly cause: GateCause
  readonly toGo: number
}

/** Why the gate is closed, first reason first; undefined while it is open. `kind`: the credit of the kind of action. */
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
  // Nobody would ever find out what it does alone.
  return rules.checkRate === 0 ? { cause: 'unchecked', toGo: 0 } : undefined
}

const isUnreadTooLong = ({ maxUnread }: StandingRules, { count, oldestMs }: Unread) =>
  count >= maxUnread || oldestMs > maxUnreadAgeMs

/**
 * What is looked at after a mistake: the newest actions, and some of those before by lot. `alone` has those that
 * nobody has looked at, newest first; `draws` one number for each.
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

/** Doing nothing proves nothing: credit fades, strikes and debts do not. */
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
export const evidenceLevelOf = (toGo: number): number => Math.max(0, 0.8 * (1 - toGo / creditToAct))
