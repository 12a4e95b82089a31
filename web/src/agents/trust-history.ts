import type { ToolResults } from '#wire'
import type { OverrideType } from '#base/override.ts'
import { overrideTypes } from '#base/override.ts'
import { modeForScore } from '../inbox/approval.ts'
import { riskWords } from './class-standing.ts'
import { isYoung } from '../inbox/trust-chart.ts'
import { levelWords, overrideLabels, formatScore } from '../inbox/text.ts'

const day = 86_400_000

const gateMarks = ['opened', 'closed', 'look_back', 'forgiven'] as const
/** What happened to the gate of a class of risk (T14). */
type GateMark = (typeof gateMarks)[number]

/** How trust moved, and where idle days would take it. */
export type TrustHistory = ToolResults['cowork_trust_history']
type HistoryPoint = TrustHistory['points'][number]

/** What moved trust or the gate; a promotion, a demotion or the gate comes with the decision that brought it. */
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

/** `agent_wrong, demoted`: what a person did, and what followed of it. */
export function parseCause(cause: string): { kind: MarkKind; says: string } {
  const [act = '', turn] = cause.split(', ')
  const kind: MarkKind = isOverride(act)
    ? act
    : act === 'approved'
      ? 'approved'
      : act === 'set by hand'
        ? 'set'
        : 'other'
  const says = isOverride(act)
    ? `Overridden: ${overrideLabels[act].name.toLowerCase()}`
    : markLabels[kind]
  if (turn !== 'promoted' && turn !== 'demoted') return { kind, says }
  return { kind: turn, says: `${says}, ${turn}` }
}

/** What a point says of the gate goes before what it says of the score. */
export function pointOf({ cause, mark, risk }: Omit<HistoryPoint, 'at' | 'score'>): {
  kind: MarkKind
  says: string
} {
  if (!mark) return parseCause(cause)
  const where = risk ? ` (${riskWords[risk].toLowerCase()})` : ''
  // Checks and forgiving move no score: the gate is all there is to say.
  const { kind, says } = parseCause(cause)
  const act = kind === 'other' ? '' : `${says}: `
  const gate = `${markLabels[mark]}${where}`
  return { kind: mark, says: act + (act ? gate.charAt(0).toLowerCase() + gate.slice(1) : gate) }
}

export const markLabels: Record<MarkKind, string> = {
  approved: 'Approved',
  ...mapped((type) => overrideLabels[type].name),
  set: 'Set manually',
  promoted: 'Promoted',
  demoted: 'Demoted',
  opened: 'Gate opened',
  closed: 'Gate closed',
  look_back: 'Look-back',
  forgiven: 'Forgiven',
  other: 'Changed',
}

function mapped(word: (type: OverrideType) => string): Record<OverrideType, string> {
  return Object.fromEntries(overrideTypes.map((type) => [type, word(type)])) as Record<
    OverrideType,
    string
  >
}

export type ChartSize = { readonly width: number; readonly height: number }
/** The time the picture shows: what was, up to now, and what would be. */
export type ChartRange = { readonly from: number; readonly now: number; readonly to: number }

/** A third of the past is as far ahead as one wants to look, and a month is all there is. */
export const chartRange = (days: number, now: number): ChartRange => ({
  from: now - days * day,
  now,
  to: now + Math.min(30, Math.round(days / 3)) * day,
})

const round = (value: number) => Math.round(value * 10) / 10

/** A point of the picture that can be read: a decision, this moment, or a day to come. */
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
  /** Where people moved it: steps, since trust holds until something changes it. */
  readonly steps: string
  /** What idle days took, and would take. */
  readonly decay: string
  readonly nowX: number
  /** The past is drawn decision by decision, not by time. */
  readonly isYoung: boolean
}

export function buildChart(history: TrustHistory, span: ChartRange, box: ChartSize): ChartData {
  const x = (at: number) => {
    const inside = Math.min(Math.max(at, span.from), span.to)
    return round(((inside - span.from) / (span.to - span.from)) * box.width)
  }
  const y = (value: number) => round((1 - value) * box.height)
  const place = (at: number, value: number) => ({ at, score: value, x: x(at), y: y(value) })
  const nowX = x(span.now)
  const first = history.points.find(({ cause }) => cause !== 'before')
  const young = first !== undefined && isYoung(Date.parse(first.at), span)
  const past = history.points.map((point, index): ChartPoint => {
    const spot = {
      ...place(Math.max(Date.parse(point.at), span.from), point.score),
      ...(young && { x: round((index / history.points.length) * nowX) }),
    }
    return point.cause === 'before'
      ? { ...spot, kind: 'start', says: 'Before' }
      : { ...spot, ...pointOf(point) }
  })
  const now: ChartPoint = { ...place(span.now, history.now.trust_level), kind: 'now', says: 'Now' }
  const ahead = history.projection
    .map(({ at, score: value }) => ({ at: Date.parse(at), value }))
    .filter(({ at }) => at > span.now && at <= span.to)
    .map(({ at, value }): ChartPoint => ({ ...place(at, value), kind: 'ahead', says: 'If idle' }))
  const stops = [...past, now, ...ahead]
  return { stops, ...linesOf(stops), nowX, isYoung: young }
}

/** Approving, checking and forgiving take no trust away: what is less by then, or by now, was lost while idle. */
const harmless = new Set<ChartPoint['kind']>([
  'now',
  'approved',
  'promoted',
  'opened',
  'look_back',
  'forgiven',
])
const hasFaded = (before: ChartPoint, { kind, score: value }: ChartPoint) =>
  kind === 'ahead' || (value < before.score && harmless.has(kind))

function linesOf(stops: readonly ChartPoint[]): { steps: string; decay: string } {
  let steps = ''
  let decay = ''
  for (const [at, stop] of stops.entries()) {
    const before = stops[at - 1]
    if (!before) continue
    const start = `M${before.x} ${before.y}`
    if (hasFaded(before, stop)) decay += `${start}L${stop.x} ${stop.y}`
    else steps += `${start}H${stop.x}V${stop.y}`
  }
  return { steps, decay }
}

/** The one that a pointer at `x` means. */
export function nearest(stops: readonly ChartPoint[], x: number): number {
  let best = 0
  for (const [at, stop] of stops.entries())
    if (Math.abs(stop.x - x) < Math.abs((stops[best]?.x ?? Infinity) - x)) best = at
  return best
}

/** When idle days would cost it a mode. */
export function nextModeDrop(
  { projection, thresholds, now }: TrustHistory,
  at: number,
): string | undefined {
  const mode = modeForScore(now.trust_level, thresholds)
  // What the gate does not let it do it does not lose.
  if (now.gated) return undefined
  const fall = projection.find(({ score: value }) => modeForScore(value, thresholds) !== mode)
  if (!fall) return undefined
  const days = Math.max(1, Math.round((Date.parse(fall.at) - at) / day))
  const next = levelWords[modeForScore(fall.score, thresholds)].toLowerCase()
  return `If idle, trust falls to ${formatScore(fall.score)} (${next}) in ${days === 1 ? '1 day' : `${days} days`}.`
}

/** The kinds there are in the picture, in the order of the words above. */
export const listMarkKinds = (stops: readonly ChartPoint[]): MarkKind[] =>
  (Object.keys(markLabels) as MarkKind[]).filter((kind) => stops.some((stop) => stop.kind === kind))

/** Closer than this one mark covers the other. */
const apart = 6

export type MarkStop = ChartPoint & { readonly kind: MarkKind }

const isGateMark = (kind: MarkKind) => gateMarks.some((mark) => mark === kind)
/** As high as a mark and some room. */
const stacked = 14

/**
 * Approvals that come close upon each other are one mark; whatever else happened has its own. What happened to the
 * gate in the same moment, such as closing and a look-back, stands below.
 */
export function buildMarks(stops: readonly ChartPoint[]): MarkStop[] {
  const marks: MarkStop[] = []
  let lastApproved = -Infinity
  for (const stop of stops) {
    if (!isMark(stop)) continue
    const before = marks.at(-1)
    if (stop.kind === 'approved') {
      if (stop.x - lastApproved < apart) continue
      lastApproved = stop.x
    }
    const covers =
      before && isGateMark(stop.kind) && isGateMark(before.kind) && stop.x - before.x < apart
    marks.push(covers ? { ...stop, y: before.y + stacked } : stop)
  }
  return marks
}

const isMark = (stop: ChartPoint): stop is MarkStop => Object.hasOwn(markLabels, stop.kind)
