/** Lines around a change that show where it is. */
const around = 3
/** Beyond this many differences nobody reads on: the rest is shown as taken out and put in. */
const mostDifferences = 300
/** The same for lines that are all alike: comparing them would take for ever. */
const mostSteps = 20_000_000

type Side = { readonly name: string; readonly text: string }

export type DiffLimits = {
  /** Characters of both, from the first difference to the last: more of them are not compared. */
  readonly compared?: number
  /** Characters of the diff below its names; what goes beyond is cut off. */
  readonly shown?: number
}

/** What differs, line by line, as `diff -u` writes it; nothing where nothing does, undefined where it is too much. */
export function unifiedDiff(from: Side, to: Side): string
export function unifiedDiff(from: Side, to: Side, limits: DiffLimits): string | undefined
export function unifiedDiff(
  from: Side,
  to: Side,
  { compared = Infinity, shown = Infinity }: DiffLimits = {},
): string | undefined {
  const { start, fromEnd, toEnd } = differing(from.text, to.text)
  if (fromEnd + toEnd - 2 * start > compared) return undefined
  const a = linesOf(from.text, start, fromEnd)
  const b = linesOf(to.text, start, toEnd)
  const changes = changesOf(a, b)
  if (changes.length === 0) return ''
  const lines = [`--- ${from.name}`, `+++ ${to.name}`]
  let room = shown
  for (const line of hunksOf(a, b, changes, linesBefore(from.text, start))) {
    if (room <= 0) break
    lines.push(line.slice(0, room))
    room -= line.length + 1
  }
  return lines.join('\n')
}

const linesOf = (text: string, start: number, end: number): string[] =>
  text === '' ? [] : text.slice(start, end).split('\n')

function linesBefore(text: string, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** The lines from the first that differs to the last, and those around them: mostly a small part of a long text. */
function differing(a: string, b: string): { start: number; fromEnd: number; toEnd: number } {
  const [aEnd, bEnd] = [lastLineEnd(a), lastLineEnd(b)]
  const same = sameLength(Math.min(aEnd, bEnd), (at, end) => a.slice(at, end) === b.slice(at, end))
  let start = same === 0 ? 0 : a.lastIndexOf('\n', same - 1) + 1
  for (let line = 0; line < around; line++)
    start = start < 2 ? 0 : a.lastIndexOf('\n', start - 2) + 1

  const sameAtEnd = sameLength(
    Math.min(aEnd, bEnd) - start,
    (at, end) => a.slice(aEnd - end, aEnd - at) === b.slice(bEnd - end, bEnd - at),
  )
  let fromEnd = aEnd - sameAtEnd - 1
  for (let line = 0; line <= around && fromEnd < aEnd; line++) {
    const next = a.indexOf('\n', fromEnd + 1)
    fromEnd = next === -1 ? aEnd : Math.min(next, aEnd)
  }
  return { start, fromEnd, toEnd: bEnd - (aEnd - fromEnd) }
}

const lastLineEnd = (text: string) => (text.endsWith('\n') ? text.length - 1 : text.length)

/** How far two texts are the same, in steps that get smaller: a slice is compared faster than its characters. */
function sameLength(most: number, isSame: (at: number, end: number) => boolean): number {
  let at = 0
  for (let step = 2 ** 16; step >= 1; step /= 2)
    while (at + step <= most && isSame(at, at + step)) at += step
  return at
}

/** `gone` lines at `at` have become `come` lines at `to`. */
type Change = { at: number; gone: number; to: number; come: number }

function changesOf(a: readonly string[], b: readonly string[]): Change[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end))
    end++
  const changes = shortest(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return changes.map(({ at, to, ...counts }) => ({ at: at + start, to: to + start, ...counts }))
}

/** How far each diagonal has come, those from -most-1 to most+1. */
type Reach = (k: number) => number

/** The shortest way from one to the other (Myers, 1986). */
function shortest(a: readonly string[], b: readonly string[]): Change[] {
  const most = Math.min(a.length + b.length, mostDifferences)
  const far = new Int32Array(2 * most + 3)
  const reachIn =
    (all: Int32Array): Reach =>
    (k) =>
      all[k + most + 1] ?? 0
  const reach = reachIn(far)
  const rounds: Reach[] = []
  let steps = 0
  for (let edits = 0; edits <= most && steps < mostSteps; edits++) {
    rounds.push(reachIn(far.slice()))
    for (let k = -edits; k <= edits; k += 2) {
      const from = stepsDown(reach, k, edits) ? reach(k + 1) : reach(k - 1) + 1
      let x = from
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      steps += x - from
      far[k + most + 1] = x
      if (x >= a.length && x - k >= b.length) return walkedBack(a.length, b.length, rounds)
    }
  }
  return [{ at: 0, gone: a.length, to: 0, come: b.length }]
}

const stepsDown = (reach: Reach, k: number, edits: number) =>
  k === -edits || (k !== edits && reach(k - 1) < reach(k + 1))

function walkedBack(aLength: number, bLength: number, rounds: readonly Reach[]): Change[] {
  const changes: Change[] = []
  let [x, y] = [aLength, bLength]
  for (const [edits, reach] of [...rounds.entries()].slice(1).toReversed()) {
    const k = x - y
    const isDown = stepsDown(reach, k, edits)
    const at = reach(isDown ? k + 1 : k - 1)
    const to = at - (isDown ? k + 1 : k - 1)
    const [gone, come] = isDown ? [0, 1] : [1, 0]
    const next = changes.at(-1)
    // Nothing lies between the two that stays.
    if (next && at + gone === x)
      Object.assign(next, { at, to, gone: next.gone + gone, come: next.come + come })
    else changes.push({ at, gone, to, come })
    x = at
    y = to
  }
  return changes.toReversed()
}

function* hunksOf(
  a: readonly string[],
  b: readonly string[],
  changes: readonly Change[],
  before: number,
): Generator<string> {
  for (const near of nearChanges(changes)) {
    const [first, last] = [near[0], near.at(-1)]
    if (!first || !last) continue
    const from = Math.max(0, first.at - around)
    const to = Math.min(a.length, last.at + last.gone + around)
    const toFrom = from + first.to - first.at
    const toEnd = to + last.to + last.come - last.at - last.gone
    yield `@@ -${rangeOf(before + from, to - from)} +${rangeOf(before + toFrom, toEnd - toFrom)} @@`
    let at = from
    for (const change of near) {
      for (; at < change.at; at++) yield ` ${a[at]}`
      for (; at < change.at + change.gone; at++) yield `-${a[at]}`
      for (let n = change.to; n < change.to + change.come; n++) yield `+${b[n]}`
    }
    for (; at < to; at++) yield ` ${a[at]}`
  }
}

/** Those whose surroundings touch are shown as one. */
function nearChanges(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = []
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1)
    if (last && change.at - around <= last.at + last.gone + around) groups.at(-1)?.push(change)
    else groups.push([change])
  }
  return groups
}

const rangeOf = (before: number, count: number) => `${count === 0 ? before : before + 1},${count}`
