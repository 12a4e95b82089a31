import type { Thresholds, TrustPoint } from './approval.ts'

const day = 86_400_000
/** The maximum time range of the chart. */
export const chartDays = 30

/** A history within this part of the range would be a single stroke. */
const shortHistoryShare = 0.05

/** Whether the history is so short that the chart shows one step per decision. */
export const isShortHistory = (
  first: number,
  { from, now }: { from: number; now: number },
): boolean => first > now - shortHistoryShare * (now - from)

export type Box = { readonly width: number; readonly height: number }

const round = (value: number) => Math.round(value * 10) / 10

/** Returns the SVG path of trust as steps, because trust is constant between changes. */
export function stepPath(
  points: readonly TrustPoint[],
  now: number,
  { width, height }: Box,
): string {
  const [first, ...rest] = points
  if (!first) return ''
  // A short history fills the chart, too.
  const start = Math.max(now - chartDays * day, Date.parse(first.at))
  const span = { from: now - chartDays * day, now }
  const x = isShortHistory(start, span)
    ? (_: string, place: number) => round((place / points.length) * width)
    : (at: string) => {
        const since = Math.min(Math.max(Date.parse(at) - start, 0), now - start)
        return round((since / (now - start)) * width)
      }
  const y = (value: number) => round((1 - value) * height)
  const steps = rest.map(({ at, score }, place) => `H${x(at, place + 1)}V${y(score)}`)
  return `M0 ${y(first.score)}${steps.join('')}H${width}`
}

export type Band = {
  readonly mode: 'act' | 'suggest' | 'escalate'
  readonly y: number
  readonly height: number
}

/** Returns the bands of the modes, from the top. */
export function buildBands({ suggest, act }: Thresholds, height: number): Band[] {
  const top = round((1 - act) * height)
  const middle = round((1 - suggest) * height)
  return [
    { mode: 'act', y: 0, height: top },
    { mode: 'suggest', y: top, height: round(middle - top) },
    { mode: 'escalate', y: middle, height: round(height - middle) },
  ]
}
