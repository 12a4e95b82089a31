import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { createToolRegistry } from '#dispatch'
import { paginateTools, toWireTool } from './wire.ts'

function tool(name: string, more: Partial<Tool> = {}): Tool {
  const common = defineTool({
    name,
    title: 'A title',
    description: 'A description',
    toolset: 'files',
    effect: 'write',
    by: 'anyone',
    input: z.object({
      path: z.string().describe('Where'),
      limit: z.number().int().min(1).default(10),
    }),
    output: z.object({ size: z.number(), more: z.object({ x: z.string() }).optional() }),
    run: () => Promise.resolve({ output: { size: 1 } }),
  })
  return { ...common, ...more } as Tool
}

const many = (count: number) =>
  createToolRegistry(
    Array.from({ length: count }, (_, at) => tool(`tool_${String(at).padStart(4, '0')}`)),
  ).list()

test('SV11 a tool is listed with title, description, annotations and both schemas', () => {
  expect(toWireTool(tool('write_file', { idempotent: true }))).toEqual({
    name: 'write_file',
    title: 'A title',
    description: 'A description',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where' },
        limit: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 10 },
      },
      required: ['path'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        size: { type: 'number' },
        more: { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] },
      },
      required: ['size'],
    },
    annotations: { idempotentHint: true, openWorldHint: false },
  })
})

test.each([
  ['read', {}, { readOnlyHint: true, openWorldHint: false }],
  ['write', {}, { openWorldHint: false }],
  ['write', { additive: true }, { destructiveHint: false, openWorldHint: false }],
  ['write', { idempotent: true }, { idempotentHint: true, openWorldHint: false }],
  ['destructive', { openWorld: true }, {}],
] as const)(
  'RA13 a tool of effect %s with %j sends only hints that differ from the MCP defaults',
  (effect, more, hints) => {
    expect(toWireTool(tool('x', { effect, ...more })).annotations).toEqual(hints)
  },
)

test('SV11 a strict schema stays strict, and a schema of another server stays unchanged', () => {
  const strict = tool('strict', { input: z.strictObject({ a: z.string() }), output: z.unknown() })
  expect(toWireTool(strict).inputSchema).toMatchObject({ additionalProperties: false })
  expect(toWireTool(strict)).not.toHaveProperty('outputSchema')
  const listing = { inputSchema: { type: 'object', $defs: { a: {} } }, _meta: { ui: { x: 1 } } }
  expect(toWireTool(tool('foreign', { listing }))).toMatchObject(listing)
})

test('SV11 the wire form of a tool is built once', () => {
  const one = tool('one')
  expect(toWireTool(one)).toBe(toWireTool(one))
})

test('SV11 pages are in name order without gaps or repetitions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 350 }), (count) => {
      const tools = many(count)
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = paginateTools(tools, cursor)
        seen.push(...page.tools.map(({ name }) => name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(seen).toEqual(tools.map(({ name }) => name))
    }),
    { numRuns: 20 },
  )
})

test('SV11 a cursor stays valid after its tool is removed', () => {
  const tools = many(150)
  const { nextCursor, tools: first } = paginateTools(tools, undefined)
  const last = first.at(-1)?.name
  const left = tools.filter(({ name }) => name !== last)
  expect(paginateTools(left, nextCursor).tools[0]?.name).toBe('tool_0100')
})

test('SV11 a foreign cursor is refused', () => {
  expect(() => paginateTools(many(3), 'x')).toThrow('without a cursor')
  fc.assert(
    fc.property(fc.string(), (cursor) => {
      fc.pre(!Buffer.from(cursor, 'base64url').toString().startsWith('after '))
      expect(() => paginateTools(many(3), cursor)).toThrow('cursor')
    }),
  )
})
