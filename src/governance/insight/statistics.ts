/** What is counted about decisions, as numbers between known bounds. Pure. */

/** The middle of the normal distribution that 95 % of it lie in. */
const z = 1.959964

export type Interval = { readonly low: number; readonly high: number }

/** Where the true share lies with 95 % certainty (Wilson): honest for few and for extreme counts. */
export function wilsonInterval(successes: number, all: number): Interval {
  const share = successes / all
  const base = 1 + z ** 2 / all
  const centre = share + z ** 2 / (2 * all)
  const half = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2))
  return { low: Math.max(0, (centre - half) / base), high: Math.min(1, (centre + half) / base) }
}

/** What somebody said to be sure of, and what became of it. */
export type Claim = { readonly confidence: number; readonly isRight: boolean }

const outcomeOf = ({ isRight }: Claim) => (isRight ? 1 : 0)

/** Mean squared distance of confidence from outcome: 0 is perfect, 0.25 is a coin. */
export const brierScore = (claims: readonly Claim[]): number | null =>
  mean(claims.map((claim) => (claim.confidence - outcomeOf(claim)) ** 2))

const bins = 10

/** Expected calibration error: how far, on average, a tenth of confidence is from how often it was right. */
export function calibrationError(claims: readonly Claim[]): number | null {
  if (claims.length === 0) return null
  const byBin = Map.groupBy(claims, ({ confidence }) =>
    Math.min(bins - 1, Math.floor(confidence * bins)),
  )
  let error = 0
  for (const some of byBin.values()) {
    const said = mean(some.map(({ confidence }) => confidence)) ?? 0
    const was = mean(some.map(outcomeOf)) ?? 0
    error += (some.length / claims.length) * Math.abs(said - was)
  }
  return error
}

/** The smallest value that so large a share of all does not exceed (nearest rank). */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

export const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

export const ratio = (part: number, all: number): number | null =>
  all === 0 ? null : Math.min(1, part / all)
