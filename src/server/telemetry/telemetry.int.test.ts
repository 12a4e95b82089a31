import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { systemClock } from '#base/clock.ts'
import { silentLog } from '#base/log.ts'
import type { Tool } from '#base/tool.ts'
import type { CallRequest, Dispatch } from '#dispatch'
import { toRecord, startCollector } from '../../../test/collector.ts'
import { createMetrics } from '../metrics.ts'
import { startTelemetry } from './telemetry.ts'

const caller: Caller = { kind: 'agent', id: 'sales', session: 's', verified: true, scopes: [] }
const request: CallRequest = { tool: 'cowork_log', arguments: {}, caller }
const tool = { name: 'cowork_log' } as Tool
const done: Dispatch = () => Promise.resolve({ status: 'done', call: 'c', tool, output: {} })

type Pace = NonNullable<Parameters<typeof startTelemetry>[0]['pace']>

/** Like a daemon, with shorter intervals and a send timeout of an hour. */
function start(endpoint: string, pace: Pace = {}, headers: Record<string, string> = {}) {
  const metrics = createMetrics()
  const isTool = (name: string) => name.startsWith('cowork_')
  const telemetry = startTelemetry({
    settings: {
      otlp_endpoint: endpoint,
      otlp_headers: headers,
      otlp_service_name: 'desk',
    },
    metrics,
    isTool,
    version: '1.2.3',
    now: systemClock,
    log: silentLog,
    pace: { spansMs: 20, metricsMs: 20, timeoutMs: 3_600_000, closeMs: 50, ...pace },
  })
  let isClosed = false
  const close = async () => {
    if (!isClosed) await telemetry.close()
    isClosed = true
    metrics.close()
  }
  onTestFinished(close)
  const dispatch = telemetry.traceCalls(metrics.countCalls(done, isTool))
  const call = (more: Partial<CallRequest> = {}) => dispatch({ ...request, ...more })
  const dropped = async () =>
    Number(/^cowork_telemetry_dropped_spans (\d+)$/m.exec(await metrics.formatText())?.[1])
  return { call, dropped, close }
}

const patiently = { timeout: 20_000 }
const calls = async (call: () => Promise<unknown>, count: number) => {
  for (let n = 0; n < count; n++) await call()
}

test('L13 spans and metrics are valid OTLP with the configured service name', async () => {
  const collector = await startCollector()
  const { call, close } = start(`${collector.url}/otlp/`, {}, { 'x-scope': 'team' })
  await call()
  await call({ tool: 'made up' })
  await expect.poll(() => collector.spans.length, patiently).toBe(2)
  await close()
  expect(collector.faults).toEqual([])
  expect(collector.spans.map(({ name, kind, flags }) => ({ name, kind, flags }))).toEqual([
    { name: 'cowork_log', kind: 2, flags: 0x101 },
    { name: 'unknown tool', kind: 2, flags: 0x101 },
  ])
  for (const { path, headers } of collector.requests) {
    expect(path).toMatch(/^\/otlp\/v1\/(traces|metrics)$/)
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-scope': 'team' })
  }
  for (const resource of collector.resources)
    expect(resource).toEqual({
      'service.name': 'desk',
      'service.version': '1.2.3',
      'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  const counted = collector.figures.get('cowork_calls_total')
  expect(counted).toMatchObject({ sum: { isMonotonic: true, aggregationTemporality: 2 } })
  const points = counted && 'sum' in counted ? counted.sum.dataPoints : []
  expect(points.map((point) => [toRecord(point.attributes), point.asDouble])).toEqual([
    [{ tool: 'cowork_log', outcome: 'done' }, 1],
    [{ tool: 'unknown', outcome: 'done' }, 1],
  ])
  expect(collector.figures.get('cowork_call_seconds')).toMatchObject({
    unit: 's',
    histogram: { dataPoints: [{ count: '1' }, { count: '1' }] },
  })
  expect(collector.figures.get('process_resident_memory_bytes')).toMatchObject({ unit: 'By' })
})

test('L13 the span of a client is the parent of our span', async () => {
  const collector = await startCollector()
  const { call } = start(collector.url)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await call({ traceparent: `00-${traceId}-00f067aa0ba902b7-00` })
  await expect.poll(() => collector.spans.length, patiently).toBe(1)
  expect(collector.spans[0]).toMatchObject({
    traceId,
    parentSpanId: '00f067aa0ba902b7',
    flags: 0x301,
    attributes: { 'cowork.agent_id': 'sales', 'cowork.call_id': 'c' },
  })
})

test('L13 a hanging collector delays neither calls nor shutdown, and the queue is bounded', async () => {
  const answers: ServerResponse[] = []
  const collector = await startCollector((response) => {
    answers.push(response)
    return true
  })
  const { call, dropped, close } = start(collector.url, { maxQueued: 10, batchSize: 4 })
  await calls(call, 4)
  await expect.poll(() => answers.length, patiently).toBeGreaterThan(0)
  await calls(call, 96)
  expect(await dropped()).toBe(90)
  // Without its own timeout, shutdown would wait for the send timeout.
  await close()
})

test('L13 with a dead collector, only items beyond the queue capacity are lost', async () => {
  const gone = await startCollector()
  gone.close()
  const { call, dropped, close } = start(gone.url, { maxQueued: 10 })
  await calls(call, 30)
  expect(await dropped()).toBe(20)
  await close()
  expect((await call()).status).toBe('done')
})

test('L13 after an outage of the collector, each span arrives once', async () => {
  const collector = await startCollector((response, count) => {
    if (count > 2) return undefined
    response.writeHead(503, { 'retry-after': '1' }).end()
    return true
  })
  const { call, dropped } = start(collector.url, { metricsMs: 3_600_000, batchSize: 5 })
  await calls(call, 12)
  await expect.poll(() => collector.spans.length, patiently).toBe(12)
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(12)
  expect(await dropped()).toBe(0)
  expect(collector.faults).toEqual([])
})

test.each([
  ['refuses them', (response: ServerResponse) => response.writeHead(400).end(), 3],
  [
    'takes some of them',
    (response: ServerResponse) => response.end('{"partialSuccess":{"rejectedSpans":"2"}}'),
    2,
  ],
  [
    'sends us elsewhere',
    (response: ServerResponse) => response.writeHead(307, { location: '/v1/traces' }).end(),
    3,
  ],
  ['answers without end', (response: ServerResponse) => response.end('x'.repeat(1_000_000)), 3],
])('L13 a request to a collector that %s is not retried', async (_, answer, lost) => {
  const collector = await startCollector((response) => {
    answer(response)
    return true
  })
  const { call, dropped, close } = start(collector.url, { metricsMs: 3_600_000 })
  await calls(call, 3)
  await expect.poll(dropped, patiently).toBe(lost)
  const { length } = collector.requests
  await close()
  const traces = collector.requests.slice(length).filter(({ path }) => path.endsWith('traces'))
  expect(traces).toEqual([])
})

test('L13 shutdown sends the queued items', async () => {
  const collector = await startCollector()
  const never = { spansMs: 3_600_000, metricsMs: 3_600_000, closeMs: 60_000 }
  const { call, close } = start(collector.url, never)
  await calls(call, 3)
  expect(collector.requests).toEqual([])
  await close()
  expect(collector.spans).toHaveLength(3)
  expect(collector.figures.has('cowork_calls_total')).toBe(true)
  expect(collector.faults).toEqual([])
})

test.each([
  ['authorization', 'Bearer a\nb'],
  ['x scope', 'team'],
])(
  'L13 an invalid header is a configuration error that does not show the value: %s',
  (name, value) => {
    const wrong = () => start('http://127.0.0.1:1', {}, { [name]: value })
    expect(wrong).toThrow(`server.otlp_headers: ${name} is not a valid HTTP header.`)
  },
)
