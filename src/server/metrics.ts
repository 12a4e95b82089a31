import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sealer } from '#base/db/port.ts'
import type { Dispatch } from '#dispatch'

type Labels = Readonly<Record<string, string>>

/** What is counted under one name, as it stands: Prometheus reads it as text, OpenTelemetry as JSON. */
export type Metric = { readonly name: string; readonly help: string } & (
  | {
      readonly kind: 'counter' | 'gauge'
      readonly points: readonly { readonly labels: Labels; readonly value: number }[]
    }
  | {
      readonly kind: 'histogram'
      readonly bounds: readonly number[]
      readonly points: readonly {
        readonly labels: Labels
        /** One more than there are bounds; each counts what lies in its bucket alone. */
        readonly counts: readonly number[]
        readonly sum: number
      }[]
    }
)

type Family = {
  /** Reading begins it anew, so there may be one reader only: whoever asks for `/metrics`. */
  readonly beginsAnew?: true
  read(): Promise<Metric>
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

type Counter = Family & { add(key: string, labels: () => Labels): void }

/** Counting is a look-up and an addition; names are put together when somebody asks for them. */
function createCounter(name: string, help: string): Counter {
  const counts = new Map<string, { labels: Labels; value: number }>()
  return {
    add(key, labels) {
      const known = counts.get(key)
      if (known) known.value++
      else counts.set(key, { labels: labels(), value: 1 })
    },
    read: async () => ({ kind: 'counter', name, help, points: [...counts.values()] }),
  }
}

type Histogram = Family & { observe(value: number, label?: string): void }

function createHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
  labelName = '',
): Histogram {
  const series = new Map<string, { labels: Labels; counts: number[]; sum: number }>()
  return {
    observe(value, label = '') {
      let known = series.get(label)
      if (!known) {
        const labels: Labels = labelName ? { [labelName]: label } : {}
        series.set(label, (known = { labels, counts: Array(bounds.length + 1).fill(0), sum: 0 }))
      }
      known.sum += value
      const at = bounds.findIndex((bound) => value <= bound)
      const place = at === -1 ? bounds.length : at
      known.counts[place] = (known.counts[place] ?? 0) + 1
    },
    read: async () => ({ kind: 'histogram', name, help, bounds, points: [...series.values()] }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** What an operator watches (SV24). Nothing here asks the store unless it is read. */
export function createMetrics() {
  const calls = createCounter('cowork_calls_total', 'Calls by tool and how they ended.')
  const callSeconds = createHistogram(
    'cowork_call_seconds',
    'How long calls took, by tool.',
    seconds,
    'tool',
  )
  const commits = createHistogram(
    'cowork_commit_entries',
    'Commits of the ledger, by how many entries shared one.',
    sizes,
  )
  const responses = createCounter('cowork_http_responses_total', 'HTTP responses by status.')
  const delay = monitorEventLoopDelay({ resolution: 20 })
  const gauge = (name: string, help: string, read: () => number | Promise<number>): Family => ({
    read: async () => ({
      kind: 'gauge',
      name,
      help,
      points: [{ labels: {}, value: await read() }],
    }),
  })
  const families: Family[] = [
    calls,
    callSeconds,
    commits,
    responses,
    gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss()),
    gauge('process_cpu_seconds', 'CPU time spent.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    gauge('process_start_time_seconds', 'When the daemon started.', () =>
      Math.round(performance.timeOrigin / 1000),
    ),
    {
      beginsAnew: true,
      async read() {
        // It wakes the processor 50 times a second: not before somebody has asked once.
        const percents = delay.enable() ? [] : [50, 99, 100]
        const points = percents.map((percent) => ({
          labels: { quantile: String(percent / 100) },
          value: delay.percentile(percent) / 1e9,
        }))
        delay.reset()
        const help = 'Turns of the loop since the last look.'
        return { kind: 'gauge', name: 'cowork_event_loop_seconds', help, points }
      },
    },
  ]

  return {
    responded(status: number): void {
      responses.add(String(status), () => ({ status: String(status) }))
    },
    /** Dispatch that counts. A name that is no tool's must not become a label: anyone can make them up. */
    countCalls:
      (dispatch: Dispatch, isTool: (name: string) => boolean): Dispatch =>
      async (request) => {
        const startedAt = performance.now()
        const answer = await dispatch(request)
        const tool = isTool(request.tool) ? request.tool : 'unknown'
        const outcome = answer.status
        calls.add(`${tool} ${outcome}`, () => ({ tool, outcome }))
        callSeconds.observe((performance.now() - startedAt) / 1000, tool)
        return answer
      },
    countCommits: <P extends object>(sealer: Sealer<P>): Sealer<P> => ({
      ...sealer,
      seal(tx, prepared) {
        commits.observe(prepared.length)
        return sealer.seal(tx, prepared)
      },
    }),
    watch(name: string, help: string, read: () => number | Promise<number>): void {
      families.push(gauge(name, help, read))
    },
    /** As Prometheus reads it. */
    async text(): Promise<string> {
      const figures = await Promise.all(families.map((family) => family.read()))
      return `${figures.flatMap(linesOf).join('\n')}\n`
    },
    /** All that several may read. */
    figures: (): Promise<Metric[]> =>
      Promise.all(families.filter((family) => !family.beginsAnew).map((family) => family.read())),
    close: () => delay.disable(),
  }
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const labelled = (labels: Labels) => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

function linesOf(figure: Metric): string[] {
  const { name, kind, help } = figure
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
    ...(figure.kind === 'histogram'
      ? figure.points.flatMap((point) => bucketLines(name, figure.bounds, point))
      : figure.points.map(({ labels, value }) => `${name}${labelled(labels)} ${value}`)),
  ]
}

type Spread = Extract<Metric, { kind: 'histogram' }>['points'][number]

/** Each bucket counts those before it too. */
function bucketLines(
  name: string,
  bounds: readonly number[],
  { labels, counts, sum }: Spread,
): string[] {
  let total = 0
  const buckets = counts.map((count, at) => {
    total += count
    const le = String(bounds[at] ?? '+Inf')
    return `${name}_bucket${labelled({ ...labels, le })} ${total}`
  })
  return [
    ...buckets,
    `${name}_sum${labelled(labels)} ${sum}`,
    `${name}_count${labelled(labels)} ${total}`,
  ]
}
