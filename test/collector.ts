import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import * as z from 'zod'

/**
 * A stand-in for an OpenTelemetry collector. It accepts only the JSON that the OTLP specification allows: an unknown
 * field, an id that is not hexadecimal, a 64-bit number that is not a string, or a second attribute of the same name
 * gets status 400.
 */

const uint64 = z.string().regex(/^(0|[1-9]\d{0,19})$/)
const time = uint64.refine((nanos) => BigInt(nanos) > 0n)
const idOf = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`))
    .refine((id) => !/^0+$/.test(id))

const anyValue = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
])
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: anyValue }))
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length)

const resource = z.strictObject({ attributes })
const scope = z.strictObject({ name: z.string(), version: z.string() })

const span = z
  .strictObject({
    traceId: idOf(16),
    spanId: idOf(8),
    parentSpanId: idOf(8).optional(),
    flags: z.int().min(0).max(0x3ff),
    name: z.string().min(1),
    kind: z.int().min(0).max(5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    status: z.strictObject({ code: z.int().min(0).max(2) }).optional(),
  })
  .refine((it) => BigInt(it.endTimeUnixNano) >= BigInt(it.startTimeUnixNano))

const traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource,
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })),
    }),
  ),
})

const numberPoint = z.strictObject({
  attributes,
  startTimeUnixNano: time.optional(),
  timeUnixNano: time,
  asDouble: z.number(),
})
const histogramPoint = z
  .strictObject({
    attributes,
    startTimeUnixNano: time,
    timeUnixNano: time,
    count: uint64,
    sum: z.number(),
    bucketCounts: z.array(uint64),
    explicitBounds: z.array(z.number()),
  })
  .refine((it) => it.bucketCounts.length === it.explicitBounds.length + 1)
  .refine(
    (it) => it.bucketCounts.reduce((sum, count) => sum + BigInt(count), 0n) === BigInt(it.count),
  )
const described = { name: z.string().min(1), description: z.string(), unit: z.string() }
const temporality = z.int().min(1).max(2)
const metric = z.union([
  z.strictObject({ ...described, gauge: z.strictObject({ dataPoints: z.array(numberPoint) }) }),
  z.strictObject({
    ...described,
    sum: z.strictObject({
      dataPoints: z.array(numberPoint.required()),
      aggregationTemporality: temporality,
      isMonotonic: z.boolean(),
    }),
  }),
  z.strictObject({
    ...described,
    histogram: z.strictObject({
      dataPoints: z.array(histogramPoint),
      aggregationTemporality: temporality,
    }),
  }),
])
const metrics = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({
      resource,
      scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })),
    }),
  ),
})

export type Metric = z.output<typeof metric>
type Attributes = z.output<typeof attributes>
export type TakenSpan = Omit<z.output<typeof span>, 'attributes'> & {
  readonly attributes: Record<string, unknown>
}

/** How it answers a request in place of taking it; undefined takes it. */
export type Instead = (response: ServerResponse, count: number) => true | undefined

export const toRecord = (all: Attributes): Record<string, unknown> =>
  Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]]))

export async function startCollector(instead: Instead = () => undefined) {
  const spans: TakenSpan[] = []
  const resources: Record<string, unknown>[] = []
  /** The newest of each. */
  const figures = new Map<string, Metric>()
  const requests: { path: string; headers: IncomingHttpHeaders; body: string }[] = []
  /** The errors of requests that were not OTLP. */
  const faults: unknown[] = []

  function take(path: string, body: unknown): void {
    if (path.endsWith('/v1/traces'))
      for (const one of traces.parse(body).resourceSpans) {
        resources.push(toRecord(one.resource.attributes))
        for (const made of one.scopeSpans.flatMap((it) => it.spans))
          spans.push({ ...made, attributes: toRecord(made.attributes) })
      }
    else if (path.endsWith('/v1/metrics'))
      for (const one of metrics.parse(body).resourceMetrics) {
        resources.push(toRecord(one.resource.attributes))
        for (const made of one.scopeMetrics.flatMap((it) => it.metrics))
          figures.set(made.name, made)
      }
    else throw new Error(`nothing is at ${path}`)
  }

  const server = createServer((request, response) => {
    const answer = async () => {
      const { url: path = '', headers } = request
      const body = await text(request)
      requests.push({ path, headers, body })
      if (instead(response, requests.length)) return
      const isJson = headers['content-type'] === 'application/json' && request.method === 'POST'
      try {
        if (!isJson) throw new Error(`${request.method} ${headers['content-type']}`)
        take(path, JSON.parse(body))
        response.setHeader('content-type', 'application/json').end('{}')
      } catch (error) {
        faults.push(error)
        response.writeHead(400).end('{}')
      }
    }
    answer().catch((error: unknown) => faults.push(error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, spans, resources, figures, requests, faults, close }
}
