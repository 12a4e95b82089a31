import type { Metric } from '../metrics.ts'
import type { Span } from './span.ts'

/** OTLP 1.x as JSON: camelCase names, ids in hex, 64-bit numbers as text, enums as numbers. */

export type Resource = {
  readonly name: string
  readonly version: string
  readonly instance: string
}

const serverKind = 2
const sampledFlag = 0x01
const hasParentFlag = 0x100
const remoteParentFlag = 0x200
const errorStatus = 2
const cumulative = 2

const toAttributes = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))

const toResource = ({ name, version, instance }: Resource) => ({
  attributes: toAttributes({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
  }),
})

/** Rounded to microseconds, the precision of the clock. */
const toNanos = (ms: number): string => `${Math.round(ms * 1000)}000`

export const toOtlpTraces = (resource: Resource, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: toResource(resource),
      scopeSpans: [
        { scope: { name: 'cowork', version: resource.version }, spans: spans.map(spanJson) },
      ],
    },
  ],
})

const spanJson = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  flags: sampledFlag | hasParentFlag | (span.parentSpanId === undefined ? 0 : remoteParentFlag),
  name: span.name,
  kind: serverKind,
  startTimeUnixNano: toNanos(span.startedAt),
  endTimeUnixNano: toNanos(span.startedAt + span.durationMs),
  attributes: toAttributes(span.attributes),
  ...(span.isError && { status: { code: errorStatus } }),
})

export const toOtlpMetrics = (
  resource: Resource,
  metrics: readonly Metric[],
  { since, at }: { readonly since: number; readonly at: number },
) => ({
  resourceMetrics: [
    {
      resource: toResource(resource),
      scopeMetrics: [
        {
          scope: { name: 'cowork', version: resource.version },
          metrics: metrics.filter(({ points }) => points.length > 0).map(metricJson(since, at)),
        },
      ],
    },
  ],
})

const metricJson = (since: number, at: number) => (metric: Metric) => {
  const { name, help: description } = metric
  const common = { name, description, unit: getUnit(name) }
  const time = { timeUnixNano: toNanos(at) }
  const span = { startTimeUnixNano: toNanos(since), ...time }
  if (metric.kind === 'histogram') {
    const dataPoints = metric.points.map(({ labels, counts, sum }) => ({
      attributes: toAttributes(labels),
      ...span,
      count: String(counts.reduce((total, count) => total + count, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: metric.bounds,
    }))
    return { ...common, histogram: { dataPoints, aggregationTemporality: cumulative } }
  }
  const isSum = metric.kind === 'counter'
  const dataPoints = metric.points.map(({ labels, value }) => ({
    attributes: toAttributes(labels),
    ...(isSum ? span : time),
    asDouble: value,
  }))
  return isSum
    ? { ...common, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } }
    : { ...common, gauge: { dataPoints } }
}

const getUnit = (name: string): string =>
  name.endsWith('_seconds') ? 's' : name.endsWith('_bytes') ? 'By' : '1'
