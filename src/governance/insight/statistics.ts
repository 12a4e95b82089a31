/** Statistics of decisions. Pure. */

/** The normal quantile that encloses 95%. */
const z = 1.959964

export type Interval = { readonly low: number; readonly high: number }

/** Returns the 95% confidence interval (Wilson), which holds for few and for extreme counts. */
export function wilsonInterval(successes: number, all: number): Interval {
  const share = successes / all
  const base = 1 + z ** 2 / all
  const center = share + z ** 2 / (2 * all)
  const half = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))
  return { low: Math.max(0, (center - half) / base), high: Math.min(1, (center + half) / base) }
}

/** A stated confidence and whether the action was right. */
export type Claim = { readonly confidence: number; readonly isRight: boolean }

const toOutcome = ({ isRight }: Claim) => (isRight ? 1 : 0)

/** Mean squared distance of confidence from outcome: 0 is perfect, 0.25 is a coin toss. */
export const brierScore = (claims: readonly Claim[]): number | null =>
  mean(claims.map((claim) => (claim.confidence - toOutcome(claim)) ** 2))

const bins = 10

/** Expected calibration error: the mean distance between the confidence of a bin and its success rate. */
export function calibrationError(claims: readonly Claim[]): number | null {
  if (claims.length === 0) return null
  const byBin = Map.groupBy(claims, ({ confidence }) =>
    Math.min(bins - 1, Math.floor(confidence * bins)),
  )
  let error = 0
  for (const some of byBin.values()) {
    const meanConfidence = mean(some.map(({ confidence }) => confidence)) ?? 0
    const successRate = mean(some.map(toOutcome)) ?? 0
    error += (some.length / claims.length) * Math.abs(meanConfidence - successRate)
  }
  return error
}

/** Returns the smallest value that the given share of values does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

export const ratio = (part: number, all: number): number | null =>
  all === 0 ? null : Math.min(1, part / all)
