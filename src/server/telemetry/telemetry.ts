import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Answer, CallFacts, Dispatch } from '#dispatch'
import type { Metrics } from '../metrics.ts'
import { toOtlpMetrics, toOtlpTraces } from './otlp.ts'
import { createExportQueue } from './export-queue.ts'
import { createSend } from './sender.ts'
import { toSpan } from './span.ts'
import type { Span } from './span.ts'

type Deps = {
  readonly settings: Pick<Config['server'], 'otlp_endpoint' | 'otlp_headers' | 'otlp_service_name'>
  readonly metrics: Pick<Metrics, 'figures' | 'watch'>
  readonly isTool: (name: string) => boolean
  readonly version: string
  readonly now: Clock
  readonly log: Log
  readonly pace?: Partial<typeof usualPace>
}

const usualPace = {
  spansMs: 5000,
  metricsMs: 60_000,
  /** How long a collector may take to answer, and all of the end. */
  timeoutMs: 10_000,
  closeMs: 2000,
  atOnce: 256,
  most: 2048,
}

export type Telemetry = {
  /** Dispatch that leaves a span for each call. */
  traceCalls(dispatch: Dispatch): Dispatch
  close(): Promise<void>
}

/** Tells an OpenTelemetry collector what happens here, where the owner named one (L13). */
export function startTelemetry(deps: Deps): Telemetry {
  const { otlp_endpoint: endpoint, otlp_headers: headers } = deps.settings
  return endpoint === undefined ? none : startExport(deps, endpoint, checked(headers))
}

const none: Telemetry = { traceCalls: (dispatch) => dispatch, close: () => Promise.resolve() }

function startExport(
  { settings, metrics, isTool, version, now, log, pace: given }: Deps,
  endpoint: string,
  headers: Readonly<Record<string, string>>,
): Telemetry {
  const pace = { ...usualPace, ...given }
  const resource = { name: settings.otlp_service_name, version, instance: newId() }
  const since = now()
  const send = createSend(endpoint, headers, pace.timeoutMs)
  const end = new AbortController()
  const outbox = createExportQueue<Span>({
    send,
    encode: (spans) => toOtlpTraces(resource, spans),
    log,
    atOnce: pace.atOnce,
    most: pace.most,
  })
  metrics.watch(
    'cowork_telemetry_dropped_spans',
    'Spans that the OpenTelemetry collector did not get.',
    outbox.dropped,
  )

  let measuring: Promise<void> | undefined
  const measure = (): Promise<void> =>
    (measuring ??= sendFigures()
      .catch((error: unknown) => log.debug('no metrics were sent', { error: errorMessage(error) }))
      .finally(() => (measuring = undefined)))

  /** They add up: what is lost is in the next ones. */
  async function sendFigures(): Promise<void> {
    const body = toOtlpMetrics(resource, await metrics.figures(), { since, at: now() })
    const sent = await send('metrics', body, end.signal)
    if (sent.as !== 'taken') log.debug('no metrics were sent', { why: sent.why })
  }

  const ticking = [
    setInterval(() => void outbox.flush(end.signal), pace.spansMs),
    setInterval(() => void measure(), pace.metricsMs),
  ]
  for (const timer of ticking) timer.unref()

  return {
    traceCalls: (dispatch) => async (request) => {
      const startedAt = now()
      const from = performance.now()
      let facts: CallFacts = {}
      let answer: Answer | undefined
      try {
        answer = await dispatch({
          ...request,
          observe(more) {
            facts = { ...facts, ...more }
          },
        })
        return answer
      } finally {
        const took = performance.now() - from
        const ended = { request, facts, answer, isTool: isTool(request.tool), startedAt, took }
        outbox.add(toSpan(ended), end.signal)
      }
    },
    async close() {
      for (const timer of ticking) clearInterval(timer)
      const limit = setTimeout(() => end.abort(), pace.closeMs)
      const over = new Promise((resolve) => end.signal.addEventListener('abort', resolve))
      await Promise.race([Promise.all([outbox.close(end.signal), measure()]), over])
      clearTimeout(limit)
      end.abort()
    },
  }
}

/** What fetch would refuse, said at the start and without the values. */
function checked(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers))
    try {
      new Headers({ [name]: value })
    } catch {
      throw new CoworkError('config_invalid', `server.otlp_headers: ${name} cannot be sent.`, {
        hint: 'Look for spaces in its name, and for line breaks and rare letters in its value, which is not shown here.',
      })
    }
  return headers
}
