import type { Metric } from '../metrics.ts'
import type { Span } from './span.ts'

/** OTLP 1.x as JSON: names in camel case, ids in hex, 64-bit numbers as text, enums as numbers. */

/** Who sends it. */
export type Resource = {
  readonly name: string
  readonly version: string
  readonly instance: string
}

const server = 2
const isSampled = 0x01
const knowsParent = 0x100
const hasRemoteParent = 0x200
const failed = 2
const cumulative = 2

const attributesOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))

const resourceOf = ({ name, version, instance }: Resource) => ({
  attributes: attributesOf({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
  }),
})

/** To the microsecond: that is as exact as the clock. */
const nanos = (ms: number): string => `${Math.round(ms * 1000)}000`

export const toOtlpTraces = (resource: Resource, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: resourceOf(resource),
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
  flags: isSampled | knowsParent | (span.parentSpanId === undefined ? 0 : hasRemoteParent),
  name: span.name,
  kind: server,
  startTimeUnixNano: nanos(span.startedAt),
  endTimeUnixNano: nanos(span.startedAt + span.took),
  attributes: attributesOf(span.attributes),
  ...(span.isError && { status: { code: failed } }),
})

export const toOtlpMetrics = (
  resource: Resource,
  figures: readonly Metric[],
  { since, at }: { readonly since: number; readonly at: number },
) => ({
  resourceMetrics: [
    {
      resource: resourceOf(resource),
      scopeMetrics: [
        {
          scope: { name: 'cowork', version: resource.version },
          metrics: figures.filter(({ points }) => points.length > 0).map(metricJson(since, at)),
        },
      ],
    },
  ],
})

const metricJson = (since: number, at: number) => (figure: Metric) => {
  const { name, help: description } = figure
  const named = { name, description, unit: unitOf(name) }
  const time = { timeUnixNano: nanos(at) }
  const span = { startTimeUnixNano: nanos(since), ...time }
  if (figure.kind === 'histogram') {
    const dataPoints = figure.points.map(({ labels, counts, sum }) => ({
      attributes: attributesOf(labels),
      ...span,
      count: String(counts.reduce((total, count) => total + count, 0)),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: figure.bounds,
    }))
    return { ...named, histogram: { dataPoints, aggregationTemporality: cumulative } }
  }
  const isSum = figure.kind === 'counter'
  const dataPoints = figure.points.map(({ labels, value }) => ({
    attributes: attributesOf(labels),
    ...(isSum ? span : time),
    asDouble: value,
  }))
  return isSum
    ? { ...named, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } }
    : { ...named, gauge: { dataPoints } }
}

const unitOf = (name: string): string =>
  name.endsWith('_seconds') ? 's' : name.endsWith('_bytes') ? 'By' : '1'
