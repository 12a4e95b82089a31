import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sealer } from '#base/db/port.ts'
import type { Dispatch } from '#dispatch'

type Labels = Readonly<Record<string, string>>

/** The current values of one metric: text for Prometheus, JSON for OpenTelemetry. */
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
        /** One count per bound and one above them; not cumulative. */
        readonly counts: readonly number[]
        readonly sum: number
      }[]
    }
)

type Family = {
  /** Reading resets the metric, so only `/metrics` reads it. */
  readonly resetsOnRead?: true
  read(): Promise<Metric>
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

type Counter = Family & { add(key: string, labels: () => Labels): void }

/** Counting is a lookup and an addition; the text is built on reading. */
function createCounter(name: string, help: string): Counter {
  const counts = new Map<string, { labels: Labels; value: number }>()
  return {
    add(key, labels) {
      const count = counts.get(key)
      if (count) count.value++
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
      let point = series.get(label)
      if (!point) {
        const labels: Labels = labelName ? { [labelName]: label } : {}
        series.set(label, (point = { labels, counts: Array(bounds.length + 1).fill(0), sum: 0 }))
      }
      point.sum += value
      const index = bounds.findIndex((bound) => value <= bound)
      const bucket = index === -1 ? bounds.length : index
      point.counts[bucket] = (point.counts[bucket] ?? 0) + 1
    },
    read: async () => ({ kind: 'histogram', name, help, bounds, points: [...series.values()] }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** Creates the metrics for operators (SV24). The store is queried only when the metrics are read. */
export function createMetrics() {
  const calls = createCounter('cowork_calls_total', 'Calls by tool and outcome.')
  const callSeconds = createHistogram(
    'cowork_call_seconds',
    'Call duration by tool.',
    seconds,
    'tool',
  )
  const commits = createHistogram('cowork_commit_entries', 'Entries per ledger commit.', sizes)
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
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
    gauge('process_cpu_seconds', 'CPU time used.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    gauge('process_start_time_seconds', 'Start time of the daemon.', () =>
      Math.round(performance.timeOrigin / 1000),
    ),
    {
      resetsOnRead: true,
      async read() {
        // The monitor wakes the processor 50 times a second, so the first read enables it.
        const percents = delay.enable() ? [] : [50, 99, 100]
        const points = percents.map((percent) => ({
          labels: { quantile: String(percent / 100) },
          value: delay.percentile(percent) / 1e9,
        }))
        delay.reset()
        const help = 'Event loop delay since the last read.'
        return { kind: 'gauge', name: 'cowork_event_loop_seconds', help, points }
      },
    },
  ]

  return {
    countResponse(status: number): void {
      responses.add(String(status), () => ({ status: String(status) }))
    },
    /** Counts calls. An unknown name must not become a label: clients can invent any number of names. */
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
    addGauge(name: string, help: string, read: () => number | Promise<number>): void {
      families.push(gauge(name, help, read))
    },
    /** Formats all metrics as Prometheus text. */
    async formatText(): Promise<string> {
      const readMetrics = await Promise.all(families.map((family) => family.read()))
      return `${readMetrics.flatMap(metricLines).join('\n')}\n`
    },
    /** Returns the metrics that reading does not reset. */
    readMetrics: (): Promise<Metric[]> =>
      Promise.all(families.filter((family) => !family.resetsOnRead).map((family) => family.read())),
    close: () => delay.disable(),
  }
}

const escapeLabel = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const formatLabels = (labels: Labels) => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

function metricLines(metric: Metric): string[] {
  const { name, kind, help } = metric
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
    ...(metric.kind === 'histogram'
      ? metric.points.flatMap((point) => bucketLines(name, metric.bounds, point))
      : metric.points.map(({ labels, value }) => `${name}${formatLabels(labels)} ${value}`)),
  ]
}

type HistogramPoint = Extract<Metric, { kind: 'histogram' }>['points'][number]

/** Prometheus buckets are cumulative. */
function bucketLines(
  name: string,
  bounds: readonly number[],
  { labels, counts, sum }: HistogramPoint,
): string[] {
  let total = 0
  const buckets = counts.map((count, at) => {
    total += count
    const le = String(bounds[at] ?? '+Inf')
    return `${name}_bucket${formatLabels({ ...labels, le })} ${total}`
  })
  return [
    ...buckets,
    `${name}_sum${formatLabels(labels)} ${sum}`,
    `${name}_count${formatLabels(labels)} ${total}`,
  ]
}
