import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { actingTool } from '../../test/acting.ts'
import { check, decide } from '../../test/acts.ts'
import { governed, openGoverned, sqliteStore } from '../../test/governed.ts'
import { schemaHash } from './schema-hash.ts'

const hashOf = (input: z.ZodObject) =>
  schemaHash(
    defineTool({
      name: 'x',
      title: 'X',
      description: 'For tests',
      toolset: 'crm',
      effect: 'write',
      by: 'agent',
      input,
      output: z.object({}),
      run: async () => ({ output: {} }),
    }),
  )

const listedHash = (inputSchema: object) => {
  const { tool } = actingTool('crm', 'write')
  return schemaHash({ ...tool, listing: { inputSchema } })
}

test('A1 RA5 the schema hash ignores descriptions and titles at every level', () => {
  const plain = z.object({ a: z.string(), list: z.array(z.object({ b: z.number() })) })
  const details = z
    .object({
      a: z.string().describe('Content of a').meta({ title: 'A' }),
      list: z
        .array(z.object({ b: z.number().describe('How many') }).describe('One'))
        .describe('All'),
    })
    .describe('Everything')
  expect(hashOf(details)).toBe(hashOf(plain))
})

test.each<[string, z.ZodObject, z.ZodObject]>([
  ['a type', z.object({ a: z.string() }), z.object({ a: z.number() })],
  ['a limit', z.object({ a: z.string() }), z.object({ a: z.string().max(5) })],
  [
    'a property called description',
    z.object({ a: z.string() }),
    z.object({ a: z.string(), description: z.string() }),
  ],
  [
    'the type of a property called title',
    z.object({ title: z.string() }),
    z.object({ title: z.number() }),
  ],
  [
    'a default called description',
    z.object({ a: z.object({ description: z.string() }).default({ description: 'x' }) }),
    z.object({ a: z.object({ description: z.string() }).default({ description: 'y' }) }),
  ],
])('A1 %s changes the schema hash', (_, one, other) => {
  expect(hashOf(other)).not.toBe(hashOf(one))
})

test('A1 the schema of another server is hashed the same way', () => {
  const schema = { type: 'object', properties: { description: { type: 'string' } } }
  const listed = {
    type: 'object',
    description: 'All',
    properties: { description: { type: 'string', description: 'A text', title: 'T' } },
  }
  expect(listedHash(listed)).toBe(listedHash(schema))
  expect(listedHash({ ...schema, properties: {} })).not.toBe(listedHash(schema))
  expect(listedHash({ ...schema, properties: { description: { enum: ['a'] } } })).not.toBe(
    listedHash({ ...schema, properties: { description: { enum: ['b'] } } }),
  )
})

test('A15 RA5 an approved call runs although a description of its tool changed', async () => {
  const store = sqliteStore()
  const { tool, runs } = actingTool('crm', 'write')
  const before = await openGoverned({}, { tools: [tool], runs: false }, store)
  const result = await before.call('crm_write', { path: '/a' })
  await decide(before, [String(result['approval_id'])])
  await before.close()
  const input = tool.input.extend({ path: z.string().describe('Where it is written') })
  const after = await governed({}, { tools: [{ ...tool, input }] }, store)
  expect(await check(after, result['approval_id'], { wait_seconds: 25 })).toMatchObject({
    status: 'consumed',
  })
  expect(runs).toHaveLength(1)
})
