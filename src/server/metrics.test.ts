import { expect, test } from 'vitest'
import type { Sealer } from '#base/db/port.ts'
import type { CallResult, CallRequest } from '#dispatch'
import { createMetrics } from './metrics.ts'

const request = (tool: string) => ({ tool, arguments: {} }) as CallRequest
const refused: CallResult = { status: 'refused', call: 'c', code: 'halted', message: 'No.' }

test('SV24 buckets are cumulative, sums and counts match, and every family has help and type', async () => {
  const metrics = createMetrics()
  const sealer: Sealer = { prepare: () => ({}), seal: () => Promise.resolve() }
  const counted = metrics.countCommits(sealer)
  for (const size of [1, 2, 3, 300]) await counted.seal({} as never, Array(size).fill({}))
  const text = await metrics.formatText()
  const of = (le: string) =>
    Number(new RegExp(`_entries_bucket\\{le="${le}"\\} (\\d+)`).exec(text)?.[1])
  expect(['1', '2', '4', '256', '\\+Inf'].map(of)).toEqual([1, 2, 3, 3, 4])
  expect(text).toContain('cowork_commit_entries_sum 306\ncowork_commit_entries_count 4\n')
  const names = [...text.matchAll(/^([a-z_]+)[{ ]/gm)].map(([, name = '']) =>
    name.replace(/_(bucket|sum|count)$/, ''),
  )
  for (const name of new Set(names))
    expect(text).toMatch(
      new RegExp(`^# HELP ${name} .+\n# TYPE ${name} (counter|gauge|histogram)$`, 'm'),
    )
  metrics.close()
})

test('SV24 an unknown tool name is not used as a label, and labels are escaped', async () => {
  const metrics = createMetrics()
  const dispatch = metrics.countCalls(
    () => Promise.resolve(refused),
    (name) => name.startsWith('t'),
  )
  await dispatch(request('made-up'))
  await dispatch(request('t"\\\n'))
  await dispatch(request('t"\\\n'))
  metrics.countResponse(200)
  const text = await metrics.formatText()
  expect(text).toContain('cowork_calls_total{tool="unknown",outcome="refused"} 1')
  expect(text).toContain('cowork_calls_total{tool="t\\"\\\\\\n",outcome="refused"} 2')
  expect(text).toContain('cowork_http_responses_total{status="200"} 1')
  expect(text).not.toContain('made-up')
  metrics.close()
})
