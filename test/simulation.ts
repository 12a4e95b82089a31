// Simulates agents and people with known habits under the trust rules: mistakes and review work (T15).
import { configSchema } from '../src/base/config/index.ts'
import * as product from '../src/governance/rules/standing.ts'
import type { TrustStanding, Unread } from '../src/governance/rules/standing.ts'

const config = configSchema.parse({})
const rules = product.toStandingRules(config)
const dayMs = 24 * 60 * 60 * 1000

/** The next action of an agent. */
export type Move = {
  readonly kind: number
  readonly isWrong: boolean
  /** Weight of a mistake: 1 is `agent_wrong` with medium severity. */
  readonly weight: number
  /** Withdraws a request before it is decided. */
  readonly isWithdrawn?: boolean
  /** Idle days before this action. */
  readonly idleDays?: number
}

/** Everything an agent could know: all state except future draws. */
export type View = {
  readonly step: number
  readonly actions: number
  readonly random: () => number
  canAct(kind: number): boolean
  standing(kind: number): TrustStanding
  kindCredit(kind: number): number
  unreadCount(kind: number): number
}

/** Chooses the actions of one run. */
export type Agent = () => (view: View) => Move

/** Realistic people: they miss mistakes, override by preference, and read checks late. */
export type People = {
  readonly catches: number
  readonly taste: number
  /** Share of undrawn slips that are found. */
  readonly foundLater: number
  /** True if the pending checks are read after this action. */
  readonly reads: (step: number) => boolean
}

export const people: People = { catches: 0.95, taste: 0.03, foundLater: 0.05, reads: () => true }

/** People who never read checks find no mistakes later. */
export const unread: Partial<People> = { reads: () => false, foundLater: 0 }

const noneUnread: Unread = { count: 0, oldestMs: 0 }

/** The gate, which limits autonomy in addition to the score and selects checks. */
export type Gate = {
  isOpen(kind: number, waiting: Unread): boolean
  isSampled(kind: number, draw: number): boolean
  applyRightAsked(kind: number): void
  applyWrongAsked(kind: number, weight: number): void
  applyTaste(kind: number): void
  applyCleanCheck(kind: number): void
  applyCleanLookBack(kind: number): void
  /** True if a look-back follows. */
  applyWrongAlone(kind: number, weight: number): boolean
  selectLookBack<A>(alone: readonly A[], draws: readonly number[]): A[]
  applyIdleDays(days: number): void
  standing(kind: number): TrustStanding
  kindCredit(kind: number): number
}

/** `classes[kind]` is the risk class of a kind of action. */
export type CreateGate = (classes: readonly number[]) => Gate

/** The production functions. */
export type Mechanism = typeof product

/** `changed` replaces some functions, to measure their effect. */
export const createGate = (changed: Partial<Mechanism> = {}): CreateGate => {
  // A copy is faster than module getters in millions of calls.
  const mechanism: Mechanism = { ...product, ...changed }
  return (classes) => {
    const standings = classes.map(() => mechanism.newStanding)
    const kinds = classes.map(() => 0)
    const standing = (kind: number) => standings[classes[kind] ?? 0] ?? mechanism.newStanding
    const kindCredit = (kind: number) => kinds[kind] ?? 0
    const set = (kind: number, after: TrustStanding, credit: number) => {
      standings[classes[kind] ?? 0] = after
      kinds[kind] = credit
    }
    return {
      standing,
      kindCredit,
      isOpen: (kind, waiting) =>
        !mechanism.gateClosed(rules, standing(kind), kindCredit(kind), waiting),
      isSampled: (kind, draw) => mechanism.isSampled(rules, standing(kind), draw),
      applyRightAsked: (kind) =>
        set(
          kind,
          mechanism.applyRight(standing(kind)),
          mechanism.applyRightOfKind(kindCredit(kind)),
        ),
      applyWrongAsked: (kind, weight) =>
        set(kind, standing(kind), mechanism.applyWrongAsked(rules, kindCredit(kind), weight)),
      applyTaste() {},
      applyCleanCheck: (kind) =>
        set(
          kind,
          mechanism.applyCleanCheck(standing(kind)),
          mechanism.applyRightOfKind(kindCredit(kind), mechanism.uncheckedWorth),
        ),
      applyCleanLookBack: (kind) =>
        set(
          kind,
          mechanism.applyRight(standing(kind), mechanism.uncheckedWorth),
          mechanism.applyRightOfKind(kindCredit(kind), mechanism.uncheckedWorth),
        ),
      applyWrongAlone(kind, weight) {
        const after = mechanism.applyWrongAlone(rules, standing(kind), weight)
        set(kind, after, mechanism.applyWrongAloneOfKind(kindCredit(kind), weight))
        return weight > 0
      },
      selectLookBack: mechanism.selectLookBack,
      applyIdleDays(days) {
        for (const [index, before] of standings.entries())
          standings[index] = mechanism.applyIdleDecay(before, days)
      },
    }
  }
}

const productGate = createGate()

/** The trust score of the COWORK protocol (T2 to T8). */
function createScore() {
  const { trust, feedback } = config
  const scoreToAct = config.authority.thresholds.act
  const lossOfWrong = 0.08
  const lossOfTaste = 0.01
  const lossOfDemotion = 0.1
  const decayFloor = 0.1
  let score = trust.default_level
  let approvals = 0
  let faults = 0
  let streak = 0
  let isPromoted = false
  const add = (change: number) => {
    score = Math.round(Math.min(1, Math.max(0, score + change)) * 10_000) / 10_000
  }
  return {
    canAct: () => score >= scoreToAct,
    applyApproval() {
      approvals++
      streak = 0
      add(feedback.approval_trust_impact)
      const accuracy = approvals / (approvals + faults)
      if (isPromoted || approvals < trust.auto_promote_after) return
      if (accuracy < trust.auto_promote_threshold) return
      isPromoted = true
      score = Math.max(score, 0.8)
    },
    applyWrong(weight: number) {
      faults++
      streak++
      add(-lossOfWrong * weight)
      if (streak < trust.auto_demote_after) return
      streak = 0
      isPromoted = false
      add(-lossOfDemotion)
    },
    applyTaste: () => add(-lossOfTaste),
    applyIdleDays(days: number) {
      if (score > decayFloor) score = Math.max(decayFloor, score - days * trust.decay_per_day)
    },
  }
}

type Done = { readonly kind: number; readonly isWrong: boolean; readonly weight: number }
type Check = { readonly action: Done; readonly isLookBack: boolean; readonly day: number }

type Tally = { slips: number; reviews: number; autonomous: number; slipsOf: number[] }

export type Options = {
  readonly actions?: number
  readonly runs?: number
  readonly seed?: number
  /** Counts events from this action on. */
  readonly from?: number
  readonly classes?: readonly number[]
  readonly people?: Partial<People>
  readonly gate?: CreateGate | undefined
}

/** Means over the runs: autonomous mistakes, reviews and autonomous actions. */
export type Outcome = {
  readonly slips: number
  readonly p95: number
  readonly max: number
  readonly reviews: number
  readonly autonomous: number
  /** Slips by kind of action. */
  readonly slipsOf: readonly number[]
}

/** Seeds the random numbers for reproducible runs. */
export function simulate(agent: Agent, options: Options = {}): Outcome {
  const { actions = 1000, runs = 400, seed = 1, from = 0, classes = [0] } = options
  const { gate = productGate } = options
  const world = { people: { ...people, ...options.people }, actions, from, classes }
  const random = createRandom(seed)
  const tallies = Array.from({ length: runs }, () => play(agent, gate(classes), world, random))
  const mean = (pick: (tally: Tally) => number) =>
    tallies.reduce((sum, tally) => sum + pick(tally), 0) / runs
  const sorted = tallies.map(({ slips }) => slips).toSorted((a, b) => a - b)
  return {
    slips: mean(({ slips }) => slips),
    p95: sorted[Math.ceil(runs * 0.95) - 1] ?? 0,
    max: sorted.at(-1) ?? 0,
    reviews: mean(({ reviews }) => reviews),
    autonomous: mean(({ autonomous }) => autonomous),
    slipsOf: classes.map((_, kind) => mean(({ slipsOf }) => slipsOf[kind] ?? 0)),
  }
}

type World = {
  readonly people: People
  readonly actions: number
  readonly from: number
  readonly classes: readonly number[]
}

function play(agent: Agent, gate: Gate, world: World, random: () => number): Tally {
  const { actions, from, classes } = world
  const { catches, taste, foundLater, reads } = world.people
  const happens = (probability: number) => random() < probability
  const score = createScore()
  /** By risk class: unread checks, and the newest unreviewed autonomous actions, oldest first. */
  const pools = classes.map(() => ({ waiting: [] as Check[], alone: [] as Done[] }))
  const poolOf = (kind: number) => pools[classes[kind] ?? 0] ?? { waiting: [], alone: [] }
  let day = 0
  let waitingCount = 0
  let tally: Tally = { slips: 0, reviews: 0, autonomous: 0, slipsOf: classes.map(() => 0) }

  function canAct(kind: number): boolean {
    if (!score.canAct()) return false
    if (waitingCount === 0) return gate.isOpen(kind, noneUnread)
    const { waiting } = poolOf(kind)
    const oldestMs = waiting[0] ? (day - waiting[0].day) * dayMs : 0
    return gate.isOpen(kind, { count: waiting.length, oldestMs })
  }

  function queue(check: Check) {
    poolOf(check.action.kind).waiting.push(check)
    waitingCount++
  }

  function findWrong(action: Done, isLookBack: boolean) {
    score.applyWrong(action.weight)
    const isFollowed = gate.applyWrongAlone(action.kind, action.weight)
    if (!isFollowed || isLookBack) return
    const pool = poolOf(action.kind)
    const newestFirst = pool.alone.toReversed()
    const chosen = new Set(
      gate.selectLookBack(
        newestFirst,
        newestFirst.map(() => random()),
      ),
    )
    pool.alone = pool.alone.filter((one) => !chosen.has(one))
    for (const one of chosen) queue({ action: one, isLookBack: true, day })
  }

  function read({ action, isLookBack }: Check) {
    const { kind, isWrong } = action
    tally.reviews++
    if (isWrong && happens(catches)) findWrong(action, isLookBack)
    else if (!isWrong && happens(taste)) {
      score.applyTaste()
      gate.applyTaste(kind)
    } else if (isLookBack) gate.applyCleanLookBack(kind)
    else gate.applyCleanCheck(kind)
  }

  function act(action: Done) {
    const { kind, isWrong } = action
    const { alone } = poolOf(kind)
    tally.autonomous++
    if (isWrong) {
      tally.slips++
      tally.slipsOf[kind] = (tally.slipsOf[kind] ?? 0) + 1
    }
    // The draw follows the choice of the action: no agent can know it.
    if (gate.isSampled(kind, random())) queue({ action, isLookBack: false, day })
    else if (isWrong && happens(foundLater)) findWrong(action, false)
    else {
      alone.push(action)
      if (alone.length > 2 * product.lookBackWindow) alone.splice(0, product.lookBackWindow)
    }
  }

  function ask({ kind, isWrong, weight }: Done) {
    tally.reviews++
    if (isWrong && happens(catches)) {
      score.applyWrong(weight)
      gate.applyWrongAsked(kind, weight)
    } else if (!isWrong && happens(taste)) {
      score.applyTaste()
      gate.applyTaste(kind)
    } else {
      score.applyApproval()
      gate.applyRightAsked(kind)
    }
  }

  const view = {
    step: 0,
    actions,
    random,
    canAct,
    standing: gate.standing,
    kindCredit: gate.kindCredit,
    unreadCount: (kind: number) => poolOf(kind).waiting.length,
  }
  const choose = agent()
  for (; view.step < actions; view.step++) {
    if (view.step === from)
      tally = { slips: 0, reviews: 0, autonomous: 0, slipsOf: classes.map(() => 0) }
    const move = choose(view)
    if (move.idleDays) {
      day += move.idleDays
      score.applyIdleDays(move.idleDays)
      gate.applyIdleDays(move.idleDays)
    }
    if (canAct(move.kind)) act({ kind: move.kind, isWrong: move.isWrong, weight: move.weight })
    else if (!move.isWithdrawn) ask(move)
    if (waitingCount === 0 || !reads(view.step)) continue
    for (const { waiting } of pools)
      for (let check = waiting.shift(); check; check = waiting.shift()) {
        waitingCount--
        read(check)
      }
  }
  return tally
}

/** Generates the same numbers from 0 to 1 on every machine (Marsaglia's xorshift). */
function createRandom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
