import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Sealer } from '#base/db/port.ts'
import type { Dispatch } from '#dispatch'

type Labels = Readonly<Record<string, string>>
type Family = { readonly head: string; lines(): string[] | Promise<string[]> }

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]

const headOf = (name: string, kind: string, help: string) =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${kind}`

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const labelled = (labels: Labels) => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

type Counter = Family & { add(key: string, labels: () => Labels): void }

/** Counting is a look-up and an addition; names are put together when somebody asks for them. */
function createCounter(name: string, help: string): Counter {
  const counts = new Map<string, { labels: Labels; count: number }>()
  return {
    head: headOf(name, 'counter', help),
    add(key, labels) {
      const known = counts.get(key)
      if (known) known.count++
      else counts.set(key, { labels: labels(), count: 1 })
    },
    lines: () =>
      [...counts.values()].map(({ labels, count }) => `${name}${labelled(labels)} ${count}`),
  }
}

type Histogram = Family & { observe(value: number, label?: string): void }

function createHistogram(
  name: string,
  help: string,
  bounds: readonly number[],
  labelName = '',
): Histogram {
  const series = new Map<string, { counts: number[]; sum: number }>()
  return {
    head: headOf(name, 'histogram', help),
    observe(value, label = '') {
      let known = series.get(label)
      if (!known) series.set(label, (known = { counts: Array(bounds.length + 1).fill(0), sum: 0 }))
      known.sum += value
      const at = bounds.findIndex((bound) => value <= bound)
      const place = at === -1 ? bounds.length : at
      known.counts[place] = (known.counts[place] ?? 0) + 1
    },
    lines: () =>
      [...series].flatMap(([label, { counts, sum }]) => {
        const own: Labels = labelName ? { [labelName]: label } : {}
        let total = 0
        const buckets = counts.map((count, at) => {
          total += count
          const le = String(bounds[at] ?? '+Inf')
          return `${name}_bucket${labelled({ ...own, le })} ${total}`
        })
        return [
          ...buckets,
          `${name}_sum${labelled(own)} ${sum}`,
          `${name}_count${labelled(own)} ${total}`,
        ]
      }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** What an operator watches (SV24), as Prometheus reads it. Nothing here asks the store unless it is read. */
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
    head: headOf(name, 'gauge', help),
    lines: async () => [`${name} ${await read()}`],
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
      head: headOf('cowork_event_loop_seconds', 'gauge', 'Turns of the loop since the last look.'),
      lines() {
        // It wakes the processor 50 times a second: not before somebody has asked once.
        if (delay.enable()) return []
        const at = [50, 99, 100].map((percent) => {
          const quantile = labelled({ quantile: String(percent / 100) })
          return `cowork_event_loop_seconds${quantile} ${delay.percentile(percent) / 1e9}`
        })
        delay.reset()
        return at
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
    async text(): Promise<string> {
      const parts = await Promise.all(
        families.map(async (family) => [family.head, ...(await family.lines())]),
      )
      return `${parts.flat().join('\n')}\n`
    },
    close: () => delay.disable(),
  }
}
