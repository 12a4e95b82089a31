import { expect, test } from 'vitest'
import type { McpResult } from '../mcp-client.ts'
import { checkClient, describeMismatch, worksyncTools, steps } from './verify.ts'
import type { WorkClient } from './verify.ts'

test('W42 every tool of the seed is called, each once', () => {
  expect(steps.map(({ tool }) => tool)).toEqual(worksyncTools)
  expect(worksyncTools).toHaveLength(13)
})

test('W42 what an answer lacks is named by its place', () => {
  const expected = { story: { id: 'STORY-1', status: 'done' }, list: [{ a: 1 }] }
  expect(describeMismatch(expected, { ...expected, more: true }, '')).toBeUndefined()
  expect(describeMismatch(expected, { story: { id: 'STORY-1', status: 'planned' } }, '')).toBe(
    'story.status is "planned", not "done"',
  )
  expect(describeMismatch(expected, { story: expected.story, list: [] }, '')).toBe(
    'list.0 is absent',
  )
  expect(describeMismatch(expected, null, '')).toBe('the answer is absent')
})

/** A daemon that answers every call in the same way. */
const answering = (result: McpResult): WorkClient => ({
  name: 'test',
  isForWork: false,
  ask: async (method) => (method === 'tools/list' ? { tools: [] } : result),
  notify: async () => undefined,
  close: () => undefined,
})

test('W1, W42 the address for work has the tools about work and no others', async () => {
  const tools = [...worksyncTools, 'create_file'].map((name) => ({ name }))
  const listing = (isForWork: boolean): WorkClient => ({
    ...answering({}),
    isForWork,
    ask: async () => ({ tools }),
  })
  expect((await checkClient(listing(true), 'p'))[0]?.fault).toBe('names create_file too')
  expect((await checkClient(listing(false), 'p'))[0]?.fault).toBeUndefined()
})

test('W42 a daemon that refuses, or answers something else, fails every check that it fails', async () => {
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
