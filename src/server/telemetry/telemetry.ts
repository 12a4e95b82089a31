import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { CallResult, CallTraceFacts, Dispatch } from '#dispatch'
import type { Metrics } from '../metrics.ts'
import { toOtlpMetrics, toOtlpTraces } from './otlp.ts'
import { createExportQueue } from './export-queue.ts'
import { createSender } from './sender.ts'
import { toSpan } from './span.ts'
import type { Span } from './span.ts'

type Deps = {
  readonly settings: Pick<Config['server'], 'otlp_endpoint' | 'otlp_headers' | 'otlp_service_name'>
  readonly metrics: Pick<Metrics, 'readMetrics' | 'addGauge'>
  readonly isTool: (name: string) => boolean
  readonly version: string
  readonly now: Clock
  readonly log: Log
  readonly pace?: Partial<typeof defaultPace>
}

const defaultPace = {
  spansMs: 5000,
  metricsMs: 60_000,
  /** The timeout of a request, and of the shutdown. */
  timeoutMs: 10_000,
  closeMs: 2000,
  batchSize: 256,
  maxQueued: 2048,
}

export type Telemetry = {
  /** Wraps dispatch to create a span for each call. */
  traceCalls(dispatch: Dispatch): Dispatch
  close(): Promise<void>
}

/** Exports traces and metrics to the configured OpenTelemetry collector (L13). */
export function startTelemetry(deps: Deps): Telemetry {
  const { otlp_endpoint: endpoint, otlp_headers: headers } = deps.settings
  return endpoint === undefined ? noTelemetry : startExport(deps, endpoint, checkHeaders(headers))
}

const noTelemetry: Telemetry = {
  traceCalls: (dispatch) => dispatch,
  close: () => Promise.resolve(),
}

function startExport(
  { settings, metrics, isTool, version, now, log, pace: paceOverrides }: Deps,
  endpoint: string,
  headers: Readonly<Record<string, string>>,
): Telemetry {
  const pace = { ...defaultPace, ...paceOverrides }
  const resource = { name: settings.otlp_service_name, version, instance: newId() }
  const since = now()
  const send = createSender(endpoint, headers, pace.timeoutMs)
  const stop = new AbortController()
  const queue = createExportQueue<Span>({
    send,
    encode: (spans) => toOtlpTraces(resource, spans),
    log,
    batchSize: pace.batchSize,
    maxQueued: pace.maxQueued,
  })
  metrics.addGauge(
    'cowork_telemetry_dropped_spans',
    'Spans not delivered to the OpenTelemetry collector.',
    queue.droppedCount,
  )

  let sendingMetrics: Promise<void> | undefined
  const flushMetrics = (): Promise<void> =>
    (sendingMetrics ??= sendMetrics()
      .catch((error: unknown) => log.debug('metrics export failed', { error: errorMessage(error) }))
      .finally(() => (sendingMetrics = undefined)))

  /** Metrics are cumulative: the next export contains lost values. */
  async function sendMetrics(): Promise<void> {
    const body = toOtlpMetrics(resource, await metrics.readMetrics(), { since, at: now() })
    const sent = await send('metrics', body, stop.signal)
    if (sent.status !== 'taken') log.debug('metrics export failed', { why: sent.reason })
  }

  const timers = [
    setInterval(() => void queue.flush(stop.signal), pace.spansMs),
    setInterval(() => void flushMetrics(), pace.metricsMs),
  ]
  for (const timer of timers) timer.unref()

  return {
    traceCalls: (dispatch) => async (request) => {
      const startedAt = now()
      const startMark = performance.now()
      let facts: CallTraceFacts = {}
      let answer: CallResult | undefined
      try {
        answer = await dispatch({
          ...request,
          observe(more) {
            facts = { ...facts, ...more }
          },
        })
        return answer
      } finally {
        const durationMs = performance.now() - startMark
        const completed = {
          request,
          facts,
          answer,
          isTool: isTool(request.tool),
          startedAt,
          durationMs,
        }
        queue.add(toSpan(completed), stop.signal)
      }
    },
    async close() {
      for (const timer of timers) clearInterval(timer)
      const limit = setTimeout(() => stop.abort(), pace.closeMs)
      const aborted = new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
      await Promise.race([Promise.all([queue.close(stop.signal), flushMetrics()]), aborted])
      clearTimeout(limit)
      stop.abort()
    },
  }
}

/** Rejects headers that fetch would refuse at startup, without showing their values. */
function checkHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers))
    try {
      new Headers({ [name]: value })
    } catch {
      throw new CoworkError(
        'config_invalid',
        `server.otlp_headers: ${name} is not a valid HTTP header.`,
        {
          hint: 'Remove spaces from the name, and line breaks and non-Latin characters from the value, which is not shown here.',
        },
      )
    }
  return headers
}
