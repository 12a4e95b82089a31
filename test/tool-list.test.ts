import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { tools } from '../scripts/tool-docs.ts'
import { defineTool } from '#base/tool.ts'
import { isListed, toListing } from '../src/dispatch/listing.ts'

/** Characters of the result of tools/list divided by four, as the rule counts them. */
const tokensOf = (list: readonly object[]) => JSON.stringify({ tools: list }).length / 4

const defaultList =
  `cowork_check_approval cowork_check_handoff cowork_find_tools cowork_handoff cowork_log
  cowork_propose cowork_status cowork_use create_file delete_file list_files move_file read_file request_grant
  search_files update_file worksync_claim worksync_comment worksync_done worksync_get worksync_ready
  worksync_status worksync_update_story`.split(/\s+/)

test('SV17 the default list has the 23 tools of the rule', () => {
  const listed = tools().filter((tool) => isListed(tool, { isOpen: false }))
  expect(listed.map(({ name }) => name)).toEqual(defaultList)
})

test.each(['known', 'unknown', 'open'] as const)(
  'SV17 the default list takes at most 4,000 tokens for %s callers',
  (listedFor) => {
    const listed = tools().filter((tool) => isListed(tool, { isOpen: listedFor === 'open' }))
    const hints = listed.map(() => ({
      annotations: { destructiveHint: false, openWorldHint: false },
    }))
    const list = listed.map((tool, at) => ({ ...toListing(tool, listedFor), ...hints[at] }))
    expect(tokensOf(list)).toBeLessThanOrEqual(4000)
  },
)

test('SV17 with authentication off ?tools=all lists the 14 File Ops tools', () => {
  const seed001 =
    `propose approve override check_trust handoff check_handoff log validate_policy bulk_approve
    bulk_reject resolve_handoff audit_trail governance_report status`.split(/\s+/)
  const all = { selection: { tools: ['all'] } }
  const names = (isOpen: boolean) =>
    tools()
      .filter((tool) => isListed(tool, { ...all, isOpen }))
      .map(({ name }) => name)
  expect(names(true)).toEqual(expect.arrayContaining(seed001.map((name) => `cowork_${name}`)))
  expect(names(false)).not.toContain('cowork_approve')
  // RA9: people's other tools would only answer human_required.
  const forPeople = tools().filter(
    ({ by, allowsUnverified }) => by === 'human' && !allowsUnverified,
  )
  for (const { name } of forPeople) expect(names(true)).not.toContain(name)
})

test('SV18 every selection contains the tools that its hints name', () => {
  for (const selected of ['files', 'work', 'read_file']) {
    const selection = { tools: [selected] }
    const listed = tools().filter((tool) => isListed(tool, { selection, isOpen: false }))
    expect(listed.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['cowork_check_approval', 'cowork_find_tools', 'cowork_use']),
    )
  }
})

test('SV17 RA7 no listed tool has caller arguments if a token identifies the caller', () => {
  for (const tool of tools()) {
    const { properties } = toListing(tool).inputSchema as { properties: object }
    for (const name of ['agent', 'agent_id', 'agent_token'])
      expect(properties).not.toHaveProperty(name)
  }
})

test('SV17 a listed schema keeps names, types, choices, descriptions and required fields', () => {
  const tool = defineTool({
    name: 'sample',
    title: 'Sample',
    description: 'For the test',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({
      name: z.string().min(1).max(10).regex(/a/).describe('Short'),
      how: z.enum(['fast', 'slow']).default('fast'),
      limit: z.int().min(1).max(9).optional(),
      isOn: z.boolean().default(false),
      change: z.union([z.string().max(9), z.record(z.string(), z.unknown()), z.array(z.unknown())]),
      level: z.enum(['low', 'high']).nullable().optional(),
      steps: z.array(z.object({ text: z.string(), done: z.boolean().optional() })).optional(),
      reasons: z
        .object({ criteria: z.record(z.string(), z.object({ value: z.unknown() })) })
        .optional(),
    }),
    output: z.object({}),
    read: () => Promise.resolve({}),
  })
  expect(toListing(tool)).toEqual({
    name: 'sample',
    description: 'For the test',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Short' },
        how: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
        limit: { type: 'integer' },
        isOn: { type: 'boolean' },
        change: { type: ['object', 'string', 'array'] },
        level: { type: ['string', 'null'], enum: ['low', 'high', null] },
        steps: {
          type: 'array',
          items: {
            type: 'object',
            properties: { text: { type: 'string' }, done: { type: 'boolean' } },
            required: ['text'],
          },
        },
        reasons: { type: 'object' },
      },
      required: ['name', 'change'],
    },
  })
})

test('SV17 a property named like a JSON Schema keyword is kept', () => {
  const word = fc.constantFrom('title', 'pattern', 'default', 'description', 'properties', 'enum')
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1 }), (names) => {
      const tool = defineTool({
        name: 'sample',
        title: 'Sample',
        description: 'For the test',
        toolset: 'files',
        effect: 'read',
        by: 'anyone',
        input: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
        output: z.object({}),
        read: () => Promise.resolve({}),
      })
      const { properties } = toListing(tool).inputSchema as { properties: object }
      expect(Object.keys(properties).toSorted()).toEqual(names.toSorted())
    }),
  )
})
