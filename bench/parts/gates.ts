// Gates to compare in the simulation of N20: the previous one, none, and CSP-1 of acceptance sampling.
import type { TrustStanding } from '../../src/governance/rules/standing.ts'
import type { CreateGate, Gate } from '../../test/simulation.ts'

/** Agents do not wait for clean checks or for forgiveness here: these gates have neither. */
const open: TrustStanding = { credit: 25, strikes: 0, clean: Infinity }

const blind: Gate = {
  isOpen: () => true,
  isSampled: () => false,
  applyRightAsked() {},
  applyWrongAsked() {},
  applyTaste() {},
  applyCleanCheck() {},
  applyCleanLookBack() {},
  applyWrongAlone: () => false,
  selectLookBack: () => [],
  applyIdleDays() {},
  standing: () => open,
  kindCredit: () => 5,
}

/** The seed: only the score decides, without checks. */
export const createScoreGate: CreateGate = () => blind

/** One account per risk class. */
const perClass =
  (create: () => Gate): CreateGate =>
  (classes) => {
    const gates = classes.map(create)
    const of = (kind: number) => gates[classes[kind] ?? 0] ?? blind
    return {
      ...blind,
      isOpen: (kind, waiting) => of(kind).isOpen(kind, waiting),
      isSampled: (kind, draw) => of(kind).isSampled(kind, draw),
      applyRightAsked: (kind) => of(kind).applyRightAsked(kind),
      applyWrongAsked: (kind, weight) => of(kind).applyWrongAsked(kind, weight),
      applyTaste: (kind) => of(kind).applyTaste(kind),
      applyCleanCheck: (kind) => of(kind).applyCleanCheck(kind),
      applyWrongAlone: (kind, weight) => of(kind).applyWrongAlone(kind, weight),
    }
  }

/** Dodge's plan of 1943: after a number of consecutive correct actions, a share is checked until one is wrong. */
export const createCsp1 = (rightInRow: number, rate: number): CreateGate =>
  perClass(() => {
    let inRow = 0
    return {
      ...blind,
      isOpen: () => inRow >= rightInRow,
      isSampled: (_kind, draw) => draw < rate,
      applyRightAsked() {
        inRow++
      },
      applyWrongAsked() {
        inRow = 0
      },
      applyWrongAlone() {
        inRow = 0
        return false
      },
    }
  })

const maxEvidence = 100
const weightOfTaste = 0.125

/** The previous gate: P(right at least 95 times in 100) ≥ 0.8 from reviews, with one in 20 checked. */
export const createEvidenceGate: CreateGate = perClass(() => {
  let good = 0
  let bad = 0
  function add(moreGood: number, moreBad: number) {
    const share = Math.min(1, maxEvidence / (good + bad + moreGood + moreBad))
    good = (good + moreGood) * share
    bad = (bad + moreBad) * share
  }
  return {
    ...blind,
    isOpen: () => good >= neededGood(bad),
    isSampled: (_kind, draw) => draw < 0.05,
    applyRightAsked: () => add(1, 0),
    applyCleanCheck: () => add(1, 0),
    applyWrongAsked: (_kind, weight) => add(0, weight),
    applyTaste: () => add(0, weightOfTaste),
    applyWrongAlone(_kind, weight) {
      add(0, weight)
      return false
    },
  }
})

/** Correct actions that open that gate, per eighth of a wrong one. */
const needed = Array.from({ length: 8 * 8 }, (_, eighths) => findNeededGood(eighths / 8))

function neededGood(bad: number): number {
  const at = Math.min(bad * 8, needed.length - 1)
  const low = needed[Math.floor(at)] ?? Infinity
  const high = needed[Math.ceil(at)] ?? Infinity
  return low + (high - low) * (at % 1)
}

function findNeededGood(bad: number): number {
  let low = 0
  let high = 400
  while (high - low > 1e-4) {
    const good = (low + high) / 2
    if (shareBelow(0.05, 1 + bad, 6.9536 + good) >= 0.8) high = good
    else low = good
  }
  return high
}

/** P(X ≤ x) for X ~ Beta(a, b), by the trapezoidal rule. */
function shareBelow(x: number, a: number, b: number): number {
  const steps = 4000
  let below = 0
  let all = 0
  for (let step = 1; step < steps; step++) {
    const at = step / steps
    const density = at ** (a - 1) * (1 - at) ** (b - 1)
    all += density
    if (at < x) below += density
    else if (at === x) below += density / 2
  }
  // At 0 the density is 1 for a = 1 and 0 for larger a.
  const edge = a === 1 ? 0.5 : 0
  return (below + edge) / (all + edge)
}
