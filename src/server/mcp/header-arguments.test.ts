import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { checkHeaderArguments } from './header-arguments.ts'

const tool = defineTool({
  name: 'route',
  title: 'Route',
  description: 'For the test',
  toolset: 'test',
  effect: 'read',
  by: 'anyone',
  input: z.looseObject({}),
  output: z.unknown(),
  listing: {
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        deep: {
          type: 'object',
          properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } },
        },
        free: { type: 'string' },
      },
    },
  },
  read: () => Promise.resolve(undefined),
})

const check = (args: object, headers: Record<string, string>) => () =>
  checkHeaderArguments(tool, args, new Headers(headers))
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

test.each([
  [{ region: 'eu' }, { 'mcp-param-region': 'eu' }],
  [{ region: 'Zürich' }, { 'mcp-param-region': base64('Zürich') }],
  [{ region: '=?base64?abc' }, { 'mcp-param-region': '=?base64?abc' }],
  [{ deep: { count: 42 } }, { 'mcp-param-count': '42.0' }],
  [{ region: null, free: 'x' }, {}],
  [{ deep: 'not an object' }, { 'mcp-param-region': 'ignored' }],
])('SV10 %j matches the headers %j', (args, headers) => {
  expect(check(args, headers)).not.toThrow()
})

test.each([
  [{ region: 'eu' }, {}],
  [{ region: 'eu' }, { 'mcp-param-region': 'us' }],
  [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
  [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }],
  [{ deep: { count: 0 } }, { 'mcp-param-count': '' }],
  [{ deep: { count: 1 } }, { 'mcp-param-count': '2' }],
])('SV10 %j is refused with the headers %j', (args, headers) => {
  expect(check(args, headers)).toThrow('does not match')
})

test('SV10 any text can be sent in Base64 and only that text matches', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (region, other) => {
      expect(check({ region }, { 'mcp-param-region': base64(region) })).not.toThrow()
      if (other !== region)
        expect(check({ region }, { 'mcp-param-region': base64(other) })).toThrow('does not match')
    }),
  )
})
