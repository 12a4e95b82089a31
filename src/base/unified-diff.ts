/** Lines around a change that show where it is. */
const around = 3
/** Beyond this many differences nobody reads on: the rest is shown as taken out and put in. */
const mostDifferences = 300

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string }

/** What differs, line by line, as `diff -u` writes it; nothing where nothing does. */
export function unifiedDiff(
  from: { readonly name: string; readonly text: string },
  to: { readonly name: string; readonly text: string },
): string {
  const lines = compared(linesOf(from.text), linesOf(to.text))
  const hunks = hunksOf(lines)
  if (hunks.length === 0) return ''
  return [`--- ${from.name}`, `+++ ${to.name}`, ...hunks].join('\n')
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function compared(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end))
    end++
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...a.slice(0, start).map(same),
    ...shortest(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ]
}

/** The shortest way from one to the other (Myers, 1986): `reach[k]` is how far diagonal k has come. */
function shortest(a: readonly string[], b: readonly string[]): Line[] {
  const rounds: Map<number, number>[] = []
  let reach = new Map([[1, 0]])
  for (let edits = 0; edits <= Math.min(a.length + b.length, mostDifferences); edits++) {
    rounds.push(reach)
    const next = new Map(reach)
    for (let k = -edits; k <= edits; k += 2) {
      let x = stepsDown(reach, k, edits) ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkedBack(a, b, rounds)
    }
    reach = next
  }
  return [
    ...a.map((text): Line => ({ sign: '-', text })),
    ...b.map((text): Line => ({ sign: '+', text })),
  ]
}

const stepsDown = (reach: ReadonlyMap<number, number>, k: number, edits: number) =>
  k === -edits || (k !== edits && (reach.get(k - 1) ?? 0) < (reach.get(k + 1) ?? 0))

function walkedBack(
  a: readonly string[],
  b: readonly string[],
  rounds: readonly ReadonlyMap<number, number>[],
): Line[] {
  const lines: Line[] = []
  let [x, y] = [a.length, b.length]
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reach = rounds[edits] ?? new Map<number, number>()
    const k = x - y
    const isDown = stepsDown(reach, k, edits)
    const beforeX = reach.get(isDown ? k + 1 : k - 1) ?? 0
    const beforeY = beforeX - (isDown ? k + 1 : k - 1)
    while (x > Math.max(0, beforeX) && y > Math.max(0, beforeY)) {
      lines.push({ sign: ' ', text: a[x - 1] ?? '' })
      x--
      y--
    }
    if (edits === 0) break
    if (isDown) lines.push({ sign: '+', text: b[beforeY] ?? '' })
    else lines.push({ sign: '-', text: a[beforeX] ?? '' })
    x = beforeX
    y = beforeY
  }
  return lines.toReversed()
}

function hunksOf(lines: readonly Line[]): string[] {
  const places = lines.flatMap(({ sign }, place) => (sign === ' ' ? [] : [place]))
  const spans: { from: number; to: number }[] = []
  for (const place of places) {
    const last = spans.at(-1)
    const to = Math.min(lines.length, place + around + 1)
    if (last && place - around <= last.to) last.to = to
    else spans.push({ from: Math.max(0, place - around), to })
  }
  return spans.flatMap(({ from, to }) => {
    const before = lines.slice(0, from)
    const shown = lines.slice(from, to)
    const range = (other: Line['sign']) => {
      const count = shown.filter(({ sign }) => sign !== other).length
      const start = before.filter(({ sign }) => sign !== other).length + (count === 0 ? 0 : 1)
      return `${start},${count}`
    }
    return [
      `@@ -${range('+')} +${range('-')} @@`,
      ...shown.map(({ sign, text }) => `${sign}${text}`),
    ]
  })
}
