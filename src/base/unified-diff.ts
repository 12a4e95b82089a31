import { diffArrays } from 'diff/lib/diff/array.js'
import type { ChangeObject } from 'diff'

/** Unchanged lines shown before and after a change. */
const context = 3
/** Beyond either limit the whole range is shown as removed and added: hostile texts must not block the process. */
const bounds = { maxEditLength: 300, timeout: 1000 }

type Side = { readonly name: string; readonly text: string }

export type DiffLimits = {
  /** Maximum number of characters of both texts between the first and the last difference. */
  readonly maxCompared?: number
  /** Maximum number of characters after the two names; the diff is truncated there. */
  readonly maxShown?: number
}

/** Formats the difference like `diff -u`. Returns '' for equal lines, undefined beyond `maxCompared`. */
export function unifiedDiff(from: Side, to: Side): string
export function unifiedDiff(from: Side, to: Side, limits: DiffLimits): string | undefined
export function unifiedDiff(
  from: Side,
  to: Side,
  { maxCompared = Infinity, maxShown = Infinity }: DiffLimits = {},
): string | undefined {
  const { start, fromEnd, toEnd } = findDifferingRange(from.text, to.text)
  if (fromEnd + toEnd - 2 * start > maxCompared) return undefined
  const changes = computeChanges(
    sliceLines(from.text, start, fromEnd),
    sliceLines(to.text, start, toEnd),
  )
  const hunks = buildHunks(changes, countLines(from.text, start))
  if (hunks.length === 0) return ''
  const lines = [`--- ${from.name}`, `+++ ${to.name}`]
  let capacity = maxShown
  for (const line of formatHunks(hunks)) {
    if (capacity <= 0) break
    lines.push(line.slice(0, capacity))
    capacity -= line.length + 1
  }
  return lines.join('\n')
}

type Change = Pick<ChangeObject<string[]>, 'value' | 'added' | 'removed'>

// Not diffLines: its tokenizer takes 4 s for two texts of 1,900,000 lines, which `split` does in 0.1 s.
const computeChanges = (a: string[], b: string[]): Change[] =>
  diffArrays(a, b, bounds) ?? [
    { value: a, added: false, removed: true },
    { value: b, added: true, removed: false },
  ]

type Segment = { readonly sign: '+' | '-' | ' '; readonly lines: readonly string[] }
type Hunk = { readonly oldStart: number; readonly newStart: number; readonly segments: Segment[] }

function buildHunks(changes: readonly Change[], before: number): Hunk[] {
  let [oldStart, newStart] = [before, before]
  let hunk: Hunk = { oldStart, newStart, segments: [] }
  const hunks = [hunk]
  for (const [index, { value, added, removed }] of changes.entries()) {
    const isFirst = index === 0
    const isLast = index === changes.length - 1
    const sign = added ? '+' : removed ? '-' : ' '
    const isSplit = sign === ' ' && (isFirst || isLast || value.length > 2 * context)
    if (!isSplit) hunk.segments.push({ sign, lines: value })
    else if (!isFirst) hunk.segments.push({ sign, lines: value.slice(0, context) })
    if (!added) oldStart += value.length
    if (!removed) newStart += value.length
    if (!isSplit || isLast) continue
    const lines = value.slice(-context)
    hunk = {
      oldStart: oldStart - lines.length,
      newStart: newStart - lines.length,
      segments: [{ sign, lines }],
    }
    hunks.push(hunk)
  }
  return hunks.filter(({ segments }) => segments.length > 0)
}

/** Yields lines one by one: a truncated diff must not cost its full length. */
function* formatHunks(hunks: readonly Hunk[]): Generator<string> {
  for (const { oldStart, newStart, segments } of hunks) {
    const count = (other: Segment['sign']) =>
      segments.reduce((sum, { sign, lines }) => sum + (sign === other ? 0 : lines.length), 0)
    yield `@@ -${formatRange(oldStart, count('+'))} +${formatRange(newStart, count('-'))} @@`
    for (const { sign, lines } of segments) for (const line of lines) yield sign + line
  }
}

const formatRange = (before: number, count: number) =>
  `${count === 0 ? before : before + 1},${count}`

const sliceLines = (text: string, start: number, end: number): string[] =>
  text === '' ? [] : text.slice(start, end).split('\n')

function countLines(text: string, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Finds the range from the first to the last difference, with context. It is usually a small part of a long text. */
function findDifferingRange(
  a: string,
  b: string,
): { start: number; fromEnd: number; toEnd: number } {
  const [aEnd, bEnd] = [lastLineEnd(a), lastLineEnd(b)]
  const same = commonLength(
    Math.min(aEnd, bEnd),
    (at, end) => a.slice(at, end) === b.slice(at, end),
  )
  let start = same === 0 ? 0 : a.lastIndexOf('\n', same - 1) + 1
  for (let line = 0; line < context; line++)
    start = start < 2 ? 0 : a.lastIndexOf('\n', start - 2) + 1

  const sameAtEnd = commonLength(
    Math.min(aEnd, bEnd) - start,
    (at, end) => a.slice(aEnd - end, aEnd - at) === b.slice(bEnd - end, bEnd - at),
  )
  let fromEnd = aEnd - sameAtEnd - 1
  for (let line = 0; line <= context && fromEnd < aEnd; line++) {
    const next = a.indexOf('\n', fromEnd + 1)
    fromEnd = next === -1 ? aEnd : Math.min(next, aEnd)
  }
  return { start, fromEnd, toEnd: bEnd - (aEnd - fromEnd) }
}

const lastLineEnd = (text: string) => (text.endsWith('\n') ? text.length - 1 : text.length)

/** Returns the length of the common part. Comparing slices is faster than comparing characters. */
function commonLength(maxLength: number, isSame: (at: number, end: number) => boolean): number {
  let at = 0
  for (let step = 2 ** 16; step >= 1; step /= 2)
    while (at + step <= maxLength && isSame(at, at + step)) at += step
  return at
}
