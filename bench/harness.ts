// Measures a figure and its peer in turn in the same run, with medians side by side.

/** One row of the table. */
export type Finding = {
  readonly id: string
  readonly what: string
  readonly ours: string
  /** The peer or floor measured in the same run. */
  readonly beside: string
  readonly ratio: string
  readonly goal: string
  readonly met: boolean
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = NaN, high = NaN] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return (low + high) / 2
}

/** Returns the given percentile. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN
}

/** Milliseconds of the clock that all processes of a machine share. */
export const sharedNow = () => Number(process.hrtime.bigint()) / 1e6

/** Runs the sides in turn, round by round, so that noise affects them equally. The first round warms up. */
export async function interleaved<Side extends string>(
  rounds: number,
  sides: Record<Side, () => Promise<number>>,
): Promise<Record<Side, number>> {
  const entries = Object.entries(sides) as [Side, () => Promise<number>][]
  const taken = new Map<Side, number[]>(entries.map(([side]) => [side, []]))
  for (let round = 0; round <= rounds; round++)
    for (const [side, measure] of entries) {
      const value = await measure()
      if (round > 0) taken.get(side)?.push(value)
    }
  const medians = entries.map(([side]) => [side, median(taken.get(side) ?? [])])
  return Object.fromEntries(medians) as Record<Side, number>
}

/** Keeps `width` calls in flight for `ms`; returns completed calls per second. */
export async function ratePerSecond(
  ms: number,
  width: number,
  act: (caller: number) => Promise<unknown>,
): Promise<number> {
  const start = performance.now()
  const end = start + ms
  let count = 0
  await Promise.all(
    Array.from({ length: width }, async (_, caller) => {
      while (performance.now() < end) {
        await act(caller)
        count++
      }
    }),
  )
  return (count * 1000) / (performance.now() - start)
}

/** Returns the median time of `count` consecutive calls. */
export async function medianMs(count: number, act: () => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let i = 0; i < count; i++) {
    const start = performance.now()
    await act()
    taken.push(performance.now() - start)
  }
  return median(taken)
}

const grouped = (value: number, digits = 0) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })

export const perSecond = (value: number) => `${grouped(value)}/s`
export const inMs = (value: number) => `${grouped(value, value < 10 ? 2 : 0)} ms`
export const inUs = (value: number) => `${grouped(value, 1)} µs`
export const inSeconds = (value: number) => `${grouped(value, 2)} s`
export const inMb = (bytes: number) => `${grouped(bytes / 2 ** 20)} MB`
export const inPercent = (value: number) => `${grouped(value * 100)} %`
export const times = (value: number) => `${grouped(value, 2)} ×`

const columns = ['id', 'what', 'ours', 'beside', 'ratio', 'goal', 'result'] as const

export const toCells = (finding: Finding): string[] =>
  columns.map((name) => (name === 'result' ? formatResult(finding) : finding[name]))

const formatResult = ({ met }: Finding) => (met ? 'pass' : 'falls short')

export function plainTable(findings: readonly Finding[]): string {
  const rows = [[...columns], ...findings.map(toCells)]
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function markdownTable(findings: readonly Finding[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...findings.map((f) => line(toCells(f))),
  ].join('\n')
}

/** Ends a script: prints the table, and sends the findings to the parent process. */
export function report(findings: readonly Finding[]): void {
  console.log(`${plainTable(findings)}\n`)
  process.send?.(findings)
  if (process.connected) process.disconnect()
}
