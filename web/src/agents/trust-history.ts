import type { ToolResults } from '#wire'
import type { OverrideType } from '#base/override.ts'
import { overrideTypes } from '#base/override.ts'
import { modeForScore } from '../inbox/approval.ts'
import { riskLabels } from './class-standing.ts'
import { isShortHistory } from '../inbox/trust-chart.ts'
import { levelLabels, overrideLabels, formatScore } from '../inbox/text.ts'

const day = 86_400_000

const gateMarks = ['opened', 'closed', 'look_back', 'forgiven'] as const
/** A change of the gate of a risk class (T14). */
type GateMark = (typeof gateMarks)[number]

/** The trust history with the projected decay. */
export type TrustHistory = ToolResults['cowork_trust_history']
type HistoryPoint = TrustHistory['points'][number]

/** The cause of a trust or gate change. */
export type MarkKind =
  | 'approved'
  | OverrideType
  | 'set'
  | 'promoted'
  | 'demoted'
  | GateMark
  | 'other'

const isOverride = (cause: string): cause is OverrideType =>
  overrideTypes.some((type) => type === cause)

/** Parses a cause such as `agent_wrong, demoted`: the decision and its effect. */
export function parseCause(cause: string): { kind: MarkKind; says: string } {
  const [decision = '', levelChange] = cause.split(', ')
  const kind: MarkKind = isOverride(decision)
    ? decision
    : decision === 'approved'
      ? 'approved'
      : decision === 'set by hand'
        ? 'set'
        : 'other'
  const says = isOverride(decision)
    ? `Overridden: ${overrideLabels[decision].name.toLowerCase()}`
    : markLabels[kind]
  if (levelChange !== 'promoted' && levelChange !== 'demoted') return { kind, says }
  return { kind: levelChange, says: `${says}, ${levelChange}` }
}

/** Returns kind and text of a point; a gate change takes precedence over the score. */
export function parsePoint({ cause, mark, risk }: Omit<HistoryPoint, 'at' | 'score'>): {
  kind: MarkKind
  says: string
} {
  if (!mark) return parseCause(cause)
  const where = risk ? ` (${riskLabels[risk].toLowerCase()})` : ''
  // Checks and forgiving do not change the score, so only the gate is shown.
  const { kind, says } = parseCause(cause)
  const act = kind === 'other' ? '' : `${says}: `
  const gate = `${markLabels[mark]}${where}`
  return { kind: mark, says: act + (act ? gate.charAt(0).toLowerCase() + gate.slice(1) : gate) }
}

export const markLabels: Record<MarkKind, string> = {
  approved: 'Approved',
  ...mapOverrideTypes((type) => overrideLabels[type].name),
  set: 'Set manually',
  promoted: 'Promoted',
  demoted: 'Demoted',
  opened: 'Gate opened',
  closed: 'Gate closed',
  look_back: 'Look-back',
  forgiven: 'Forgiven',
  other: 'Changed',
}

function mapOverrideTypes(word: (type: OverrideType) => string): Record<OverrideType, string> {
  return Object.fromEntries(overrideTypes.map((type) => [type, word(type)])) as Record<
    OverrideType,
    string
  >
}

export type ChartSize = { readonly width: number; readonly height: number }
/** The time range of the chart: history up to now, then projection. */
export type ChartRange = { readonly from: number; readonly now: number; readonly to: number }

/** Projects a third of the history, at most the 30 days that the API returns. */
export const chartRange = (days: number, now: number): ChartRange => ({
  from: now - days * day,
  now,
  to: now + Math.min(30, Math.round(days / 3)) * day,
})

const round = (value: number) => Math.round(value * 10) / 10

/** A selectable point: a decision, now, or a projected day. */
export type ChartPoint = {
  readonly at: number
  readonly score: number
  readonly x: number
  readonly y: number
  readonly kind: MarkKind | 'start' | 'now' | 'ahead'
  readonly says: string
}

export type ChartData = {
  readonly stops: readonly ChartPoint[]
  /** Steps, because trust is constant between decisions. */
  readonly steps: string
  /** Past and projected decay. */
  readonly decay: string
  readonly nowX: number
  /** The x axis shows one step per decision instead of time. */
  readonly isYoung: boolean
}

export function buildChart(history: TrustHistory, span: ChartRange, box: ChartSize): ChartData {
  const x = (at: number) => {
    const inside = Math.min(Math.max(at, span.from), span.to)
    return round(((inside - span.from) / (span.to - span.from)) * box.width)
  }
  const y = (value: number) => round((1 - value) * box.height)
  const toPosition = (at: number, value: number) => ({ at, score: value, x: x(at), y: y(value) })
  const nowX = x(span.now)
  const first = history.points.find(({ cause }) => cause !== 'before')
  const isShort = first !== undefined && isShortHistory(Date.parse(first.at), span)
  const past = history.points.map((point, index): ChartPoint => {
    const position = {
      ...toPosition(Math.max(Date.parse(point.at), span.from), point.score),
      ...(isShort && { x: round((index / history.points.length) * nowX) }),
    }
    return point.cause === 'before'
      ? { ...position, kind: 'start', says: 'Before' }
      : { ...position, ...parsePoint(point) }
  })
  const now: ChartPoint = {
    ...toPosition(span.now, history.now.trust_level),
    kind: 'now',
    says: 'Now',
  }
  const ahead = history.projection
    .map(({ at, score: value }) => ({ at: Date.parse(at), value }))
    .filter(({ at }) => at > span.now && at <= span.to)
    .map(({ at, value }): ChartPoint => ({
      ...toPosition(at, value),
      kind: 'ahead',
      says: 'If idle',
    }))
  const stops = [...past, now, ...ahead]
  return { stops, ...buildLines(stops), nowX, isYoung: isShort }
}

/** These kinds never lower trust, so a lower score at them is decay. */
const neverLowering = new Set<ChartPoint['kind']>([
  'now',
  'approved',
  'promoted',
  'opened',
  'look_back',
  'forgiven',
])
const isDecay = (before: ChartPoint, { kind, score: value }: ChartPoint) =>
  kind === 'ahead' || (value < before.score && neverLowering.has(kind))

function buildLines(stops: readonly ChartPoint[]): { steps: string; decay: string } {
  let steps = ''
  let decay = ''
  for (const [at, stop] of stops.entries()) {
    const before = stops[at - 1]
    if (!before) continue
    const start = `M${before.x} ${before.y}`
    if (isDecay(before, stop)) decay += `${start}L${stop.x} ${stop.y}`
    else steps += `${start}H${stop.x}V${stop.y}`
  }
  return { steps, decay }
}

/** Returns the index of the point closest to `x`. */
export function findNearest(stops: readonly ChartPoint[], x: number): number {
  let best = 0
  for (const [at, stop] of stops.entries())
    if (Math.abs(stop.x - x) < Math.abs((stops[best]?.x ?? Infinity) - x)) best = at
  return best
}

/** Describes when decay lowers the mode. */
export function nextModeDrop(
  { projection, thresholds, now }: TrustHistory,
  at: number,
): string | undefined {
  const mode = modeForScore(now.trust_level, thresholds)
  // A closed gate already prevents the higher mode.
  if (now.gated) return undefined
  const drop = projection.find(({ score: value }) => modeForScore(value, thresholds) !== mode)
  if (!drop) return undefined
  const days = Math.max(1, Math.round((Date.parse(drop.at) - at) / day))
  const next = levelLabels[modeForScore(drop.score, thresholds)].toLowerCase()
  return `If idle, trust falls to ${formatScore(drop.score)} (${next}) in ${days === 1 ? '1 day' : `${days} days`}.`
}

/** Returns the kinds in the chart, in the order of `markLabels`. */
export const listMarkKinds = (stops: readonly ChartPoint[]): MarkKind[] =>
  (Object.keys(markLabels) as MarkKind[]).filter((kind) => stops.some((stop) => stop.kind === kind))

/** Marks closer than this overlap (px). */
const minMarkDistance = 6

export type MarkStop = ChartPoint & { readonly kind: MarkKind }

const isGateMark = (kind: MarkKind) => gateMarks.some((mark) => mark === kind)
/** The height of a mark with spacing (px). */
const stackOffset = 14

/**
 * Builds the marks. Close approvals share one mark; other points have their own. Simultaneous gate changes, such as
 * closing and a look-back, are stacked.
 */
export function buildMarks(stops: readonly ChartPoint[]): MarkStop[] {
  const marks: MarkStop[] = []
  let lastApproved = -Infinity
  for (const stop of stops) {
    if (!isMark(stop)) continue
    const before = marks.at(-1)
    if (stop.kind === 'approved') {
      if (stop.x - lastApproved < minMarkDistance) continue
      lastApproved = stop.x
    }
    const isOverlapping =
      before &&
      isGateMark(stop.kind) &&
      isGateMark(before.kind) &&
      stop.x - before.x < minMarkDistance
    marks.push(isOverlapping ? { ...stop, y: before.y + stackOffset } : stop)
  }
  return marks
}

const isMark = (stop: ChartPoint): stop is MarkStop => Object.hasOwn(markLabels, stop.kind)
