import type { Mode, OverrideType, Thresholds, TrustPoint } from '../inbox/approval.ts'
import { modeAt, overrideTypes } from '../inbox/approval.ts'
import { isYoung } from '../inbox/trust-chart.ts'
import { overrideWords, score } from '../inbox/words.ts'

const day = 86_400_000

/** How trust moved, and where idle days would take it. */
export type History = {
  readonly points: readonly TrustPoint[]
  readonly projection: readonly { readonly at: string; readonly score: number }[]
  readonly thresholds: Thresholds
  readonly now: {
    readonly trust_level: number
    readonly mode: Mode
    readonly evidence_level: number
    readonly gated: boolean
  }
}

/** What moved trust; a promotion or a demotion comes with the decision that brought it. */
export type MarkKind = 'approved' | OverrideType | 'set' | 'promoted' | 'demoted' | 'other'

const isOverride = (cause: string): cause is OverrideType =>
  overrideTypes.some((type) => type === cause)

/** `agent_wrong, demoted`: what a person did, and what followed of it. */
export function markOf(cause: string): { kind: MarkKind; says: string } {
  const [act = '', turn] = cause.split(', ')
  const kind: MarkKind = isOverride(act)
    ? act
    : act === 'approved'
      ? 'approved'
      : act === 'set by hand'
        ? 'set'
        : 'other'
  const says = isOverride(act)
    ? `Overridden: ${overrideWords[act].name.toLowerCase()}`
    : markWords[kind]
  if (turn !== 'promoted' && turn !== 'demoted') return { kind, says }
  return { kind: turn, says: `${says}, and ${turn}` }
}

export const markWords: Record<MarkKind, string> = {
  approved: 'Approved',
  ...mapped((type) => overrideWords[type].name),
  set: 'Set by hand',
  promoted: 'Promoted',
  demoted: 'Demoted',
  other: 'Changed',
}

function mapped(word: (type: OverrideType) => string): Record<OverrideType, string> {
  return Object.fromEntries(overrideTypes.map((type) => [type, word(type)])) as Record<
    OverrideType,
    string
  >
}

export type Box = { readonly width: number; readonly height: number }
/** The time the picture shows: what was, up to now, and what would be. */
export type Span = { readonly from: number; readonly now: number; readonly to: number }

/** A third of the past is as far ahead as one wants to look, and a month is all there is. */
export const spanOf = (days: number, now: number): Span => ({
  from: now - days * day,
  now,
  to: now + Math.min(30, Math.round(days / 3)) * day,
})

const round = (value: number) => Math.round(value * 10) / 10

/** A point of the picture that can be read: a decision, this moment, or a day to come. */
export type Stop = {
  readonly at: number
  readonly score: number
  readonly x: number
  readonly y: number
  readonly kind: MarkKind | 'start' | 'now' | 'ahead'
  readonly says: string
}

export type Picture = {
  readonly stops: readonly Stop[]
  /** Where people moved it: steps, since trust holds until something changes it. */
  readonly steps: string
  /** What idle days took, and would take. */
  readonly decay: string
  readonly nowX: number
  /** The past is drawn decision by decision, not by time. */
  readonly isYoung: boolean
}

export function pictureOf(history: History, span: Span, box: Box): Picture {
  const x = (at: number) => {
    const inside = Math.min(Math.max(at, span.from), span.to)
    return round(((inside - span.from) / (span.to - span.from)) * box.width)
  }
  const y = (value: number) => round((1 - value) * box.height)
  const place = (at: number, value: number) => ({ at, score: value, x: x(at), y: y(value) })
  const nowX = x(span.now)
  const first = history.points.find(({ cause }) => cause !== 'before')
  const young = first !== undefined && isYoung(Date.parse(first.at), span)
  const past = history.points.map(({ at, score: value, cause }, index): Stop => {
    const spot = {
      ...place(Math.max(Date.parse(at), span.from), value),
      ...(young && { x: round((index / history.points.length) * nowX) }),
    }
    return cause === 'before'
      ? { ...spot, kind: 'start', says: 'Before' }
      : { ...spot, ...markOf(cause) }
  })
  const now: Stop = { ...place(span.now, history.now.trust_level), kind: 'now', says: 'Now' }
  const ahead = history.projection
    .map(({ at, score: value }) => ({ at: Date.parse(at), value }))
    .filter(({ at }) => at > span.now && at <= span.to)
    .map(({ at, value }): Stop => ({ ...place(at, value), kind: 'ahead', says: 'If idle' }))
  const stops = [...past, now, ...ahead]
  return { stops, ...linesOf(stops), nowX, isYoung: young }
}

/** Nobody takes trust away by approving: what is less by then, or by now, was lost while idle. */
const hasFaded = (before: Stop, { kind, score: value }: Stop) =>
  kind === 'ahead' ||
  (value < before.score && (kind === 'now' || kind === 'approved' || kind === 'promoted'))

function linesOf(stops: readonly Stop[]): { steps: string; decay: string } {
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
export function nearest(stops: readonly Stop[], x: number): number {
  let best = 0
  for (const [at, stop] of stops.entries())
    if (Math.abs(stop.x - x) < Math.abs((stops[best]?.x ?? Infinity) - x)) best = at
  return best
}

/** When idle days would cost it a mode. */
export function nextFall({ projection, thresholds, now }: History, at: number): string | undefined {
  const mode = modeAt(now.trust_level, thresholds)
  // What it may not do for lack of evidence it does not lose.
  if (now.gated) return undefined
  const fall = projection.find(({ score: value }) => modeAt(value, thresholds) !== mode)
  if (!fall) return undefined
  const days = Math.max(1, Math.round((Date.parse(fall.at) - at) / day))
  const next = modeAt(fall.score, thresholds)
  return `Idle, it would fall to ${score(fall.score)} and ${next} in ${days === 1 ? 'a day' : `${days} days`}.`
}

/** The kinds there are in the picture, in the order of the words above. */
export const kindsIn = (stops: readonly Stop[]): MarkKind[] =>
  (Object.keys(markWords) as MarkKind[]).filter((kind) => stops.some((stop) => stop.kind === kind))

/** Closer than this one mark covers the other. */
const apart = 6

export type MarkStop = Stop & { readonly kind: MarkKind }

/** Approvals that come close upon each other are one mark; whatever else happened has its own. */
export function marksOf(stops: readonly Stop[]): MarkStop[] {
  let last = -Infinity
  return stops.filter((stop): stop is MarkStop => {
    if (!Object.hasOwn(markWords, stop.kind)) return false
    if (stop.kind !== 'approved') return true
    if (stop.x - last < apart) return false
    last = stop.x
    return true
  })
}
