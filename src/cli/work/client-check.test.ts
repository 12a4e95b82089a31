import { expect, test } from 'vitest'
import type { McpResult } from '../mcp-client.ts'
import { checkClient, describeMismatch, worksyncTools, steps } from './verify.ts'
import type { WorkClient } from './verify.ts'

test('W42 every WorkSync tool is called once', () => {
  expect(steps.map(({ tool }) => tool)).toEqual(worksyncTools)
  expect(worksyncTools).toHaveLength(13)
})

test('W42 a missing value is reported with its path', () => {
  const expected = { story: { id: 'STORY-1', status: 'done' }, list: [{ a: 1 }] }
  expect(describeMismatch(expected, { ...expected, more: true }, '')).toBeUndefined()
  expect(describeMismatch(expected, { story: { id: 'STORY-1', status: 'planned' } }, '')).toBe(
    'story.status is "planned", not "done"',
  )
  expect(describeMismatch(expected, { story: expected.story, list: [] }, '')).toBe(
    'list.0 is absent',
  )
  expect(describeMismatch(expected, null, '')).toBe('the result is absent')
})

/** A daemon that returns the same result for every call. */
const answering = (result: McpResult): WorkClient => ({
  name: 'test',
  isForWork: false,
  request: async (method) => (method === 'tools/list' ? { tools: [] } : result),
  notify: async () => undefined,
  close: () => undefined,
})

test('W1, W42 the work endpoint has only the work tools', async () => {
  const tools = [...worksyncTools, 'create_file'].map((name) => ({ name }))
  const listing = (isForWork: boolean): WorkClient => ({
    ...answering({}),
    isForWork,
    request: async () => ({ tools }),
  })
  expect((await checkClient(listing(true), 'p'))[0]?.fault).toBe('also lists create_file')
  expect((await checkClient(listing(false), 'p'))[0]?.fault).toBeUndefined()
})

test('W42 refusals and wrong results fail their checks', async () => {
  const refused = await checkClient(
    answering({ isError: true, content: [{ text: 'No grant.' }] }),
    'p',
  )
  expect(refused.map(({ fault }) => fault)).not.toContain(undefined)
  expect(refused[0]?.fault).toContain('worksync_status')
  expect(refused[1]).toEqual({ name: 'worksync_projects', fault: 'No grant.' })
  const empty = await checkClient(answering({ structuredContent: { written: 3 } }), 'p')
  const passed = empty.filter(({ fault }) => fault === undefined).map(({ name }) => name)
  expect(passed).toEqual(['worksync_sync'])
})
