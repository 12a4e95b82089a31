import type { Thresholds, TrustPoint } from './approval.ts'

const day = 86_400_000
const minute = 60_000
/** How far back the picture goes at most. */
export const chartDays = 30

export type Box = { readonly width: number; readonly height: number }

const round = (value: number) => Math.round(value * 10) / 10

/** Trust holds until something changes it, so the line is made of steps; nothing is drawn between. */
export function stepPath(
  points: readonly TrustPoint[],
  now: number,
  { width, height }: Box,
): string {
  const [first, ...rest] = points
  if (!first) return ''
  // A young agent's history fills the picture, too.
  const start = Math.min(Math.max(now - chartDays * day, Date.parse(first.at)), now - minute)
  const x = (at: string) =>
    round((Math.min(Math.max(Date.parse(at) - start, 0), now - start) / (now - start)) * width)
  const y = (value: number) => round((1 - value) * height)
  const steps = rest.map(({ at, score }) => `H${x(at)}V${y(score)}`)
  return `M${x(first.at)} ${y(first.score)}${steps.join('')}H${width}`
}

export type Band = {
  readonly mode: 'act' | 'suggest' | 'escalate'
  readonly y: number
  readonly height: number
}

/** The modes from the top, as high as the scores they take. */
export function bandsOf({ suggest, act }: Thresholds, height: number): Band[] {
  const top = round((1 - act) * height)
  const middle = round((1 - suggest) * height)
  return [
    { mode: 'act', y: 0, height: top },
    { mode: 'suggest', y: top, height: round(middle - top) },
    { mode: 'escalate', y: middle, height: round(height - middle) },
  ]
}
