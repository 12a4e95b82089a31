// The agents of the simulation (T15): honest ones with a known error rate, and ones that play against the gate.
import type { Agent, Move, View } from './simulation.ts'

const right: Move = { kind: 0, isWrong: false, weight: 1 }
const wrong: Move = { kind: 0, isWrong: true, weight: 1 }
const moveOf = (isWrong: boolean) => (isWrong ? wrong : right)

/** One kind of action, wrong with probability `rate`. */
const wrongBy =
  (rate: (view: View) => number): Agent =>
  () =>
  (view) =>
    moveOf(view.random() < rate(view))

export const constant = (rate: number) => wrongBy(() => rate)
export const drifting = (rate: number, at: number) => wrongBy(({ step }) => (step < at ? 0 : rate))
export const learning = (rate: number, until: number) =>
  wrongBy(({ step }) => (step < until ? rate : 0))
export const bursting = wrongBy(({ step }) => (step % 200 >= 185 ? 0.6 : 0))

/** Correct in requests, wrong at this rate in autonomous actions after a number of consecutive clean checks. */
export const strategic = (rate: number, { clean = 0, from = 0 } = {}) =>
  wrongBy((view) =>
    view.step >= from && view.standing(0).clean >= clean && view.canAct(0) ? rate : 0,
  )

/** Several random kinds of action, each with its own error rate. */
export const mixed =
  (kinds: readonly { readonly share: number; readonly rate: number }[]): Agent =>
  () =>
  ({ random }) => {
    let lot = random()
    const found = kinds.findIndex(({ share }) => (lot -= share) < 0)
    const kind = found < 0 ? kinds.length - 1 : found
    return { kind, isWrong: random() < (kinds[kind]?.rate ?? 0), weight: 1 }
  }
