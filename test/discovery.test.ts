import { expect, test } from 'vitest'
import * as z from 'zod'
import { tools as allTools } from '../scripts/tool-docs.ts'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { IncomingRequest } from '../src/server/mcp/endpoint.ts'
import { common, connect, openRig, sales, parseText, tools } from './mcp-door.ts'
import type { Era } from './mcp-door.ts'
import { rankTools } from '../src/dispatch/discovery.ts'

const eras: Era[] = ['legacy', 'auto']

const openDiscovery = () => openRig({ tools, agents: [sales], discovery: true })

test.each([
  ['restore a file from the trash', 'trash_restore'],
  ['earlier version of a file', 'file_versions'],
  ['create a new sprint', 'worksync_create_sprint'],
  ['add something to the backlog', 'worksync_add_backlog'],
  ['how much am I trusted', 'cowork_check_trust'],
  ['which grants do I have', 'list_grants'],
  ['file_diff', 'file_diff'],
])('SV17 “%s” finds %s', (query, name) => {
  const usable = allTools().filter(({ by }) => by !== 'human')
  const found = rankTools(usable, query).map((tool) => tool.name)
  expect(found.slice(0, 3)).toContain(name)
})

test.each(eras)('SV17 cowork_find_tools gives input schemas, in the %s era', async (era) => {
  const client = await connect(await openDiscovery(), era, { bearer: sales.token })
  const answer = await client.callTool({ name: 'cowork_find_tools', arguments: { query: 'say' } })
  expect(answer.structuredContent).toMatchObject({
    tools: [{ name: 'say', input_schema: { type: 'object', properties: { client: {} } } }],
    others: expect.arrayContaining(['echo', 'broken']),
  })
  // People's tools are not named, nor the tool that one is about to use.
  expect(JSON.stringify(answer)).not.toMatch(/"approve"/)
  const none = await client.callTool({ name: 'cowork_find_tools', arguments: { query: 'xyzzy' } })
  expect(none.structuredContent).toMatchObject({ tools: [], message: /No tool matches/ })
})

test.each(eras)('SV17 cowork_use makes the call that it names, in the %s era', async (era) => {
  const rig = await openDiscovery()
  const client = await connect(rig, era, { bearer: sales.token })
  const use = (args: Record<string, unknown>) =>
    client.callTool({ name: 'cowork_use', arguments: args })
  const answer = await use({ tool: 'echo', arguments: { word: 'hello' } })
  expect(answer.structuredContent).toMatchObject({ word: 'hello', caller: 'sales' })
  await use({ tool: 'say' })
  await expect
    .poll(async () => {
      const done = await rig.ledger.find({ types: ['call.done'], limit: 10 })
      return new Set(done.map(({ data }) => data?.['tool']))
    })
    .toEqual(new Set(['echo', 'say']))
})

test.each([
  ['an unknown tool', { tool: 'ecko' }, /Unknown tool: "ecko"[^]*Did you mean echo\?/],
  ['a tool for people', { tool: 'approve' }, /HumanRequiredError/],
  [
    'a tool for people, with wrong arguments',
    { tool: 'approve', arguments: { x: 1 } },
    /HumanRequired/,
  ],
  ['itself', { tool: 'cowork_use', arguments: { tool: 'echo' } }, /cannot call itself/],
  ['no tool', {}, /needs tool/],
  ['wrong arguments', { tool: 'echo', arguments: {} }, /echo needs word/],
  ['arguments that are no object', { tool: 'echo', arguments: 'word' }, /arguments/],
  ['a list of arguments', { tool: 'echo', arguments: [{ word: 'x' }] }, /arguments/],
  [
    'a name of every object',
    { tool: 'echo', arguments: JSON.parse('{"word":"x","__proto__":{"word":"y"}}') as object },
    /__proto__/,
  ],
  ['a name near a tool for people', { tool: 'approv' }, /^(?!.*Did you mean approve)/],
  ['an argument too many', { tool: 'echo', args: { word: 'x' } }, /args/],
])('SV17 cowork_use with %s is refused and recorded', async (_, args, words) => {
  const rig = await openDiscovery()
  const client = await connect(rig, 'auto', { bearer: sales.token })
  const answer = await client.callTool({ name: 'cowork_use', arguments: args })
  expect(answer).toMatchObject({ isError: true })
  expect(parseText(answer)).toMatch(words)
  await expect
    .poll(async () => {
      const types = ['call.refused', 'call.failed']
      return (await rig.ledger.find({ types, limit: 10 })).length
    })
    .toBe(1)
})

test('SV17 I3 a token inside the arguments of cowork_use identifies the caller and is removed', async () => {
  const rig = await openDiscovery()
  const client = await connect(rig, 'auto')
  const named = { word: 'x', agent_token: sales.token }
  const answer = await client.callTool({
    name: 'cowork_use',
    arguments: { tool: 'echo', arguments: named },
  })
  expect(answer.structuredContent).toMatchObject({ caller: 'sales' })
  const entries = await rig.ledger.find({ limit: 100 })
  expect(JSON.stringify(entries)).not.toContain(sales.token)
})

test('SV18 a hint explains how to call an unlisted tool', async () => {
  const failing = (name: string, hint: string) =>
    defineTool({
      ...common,
      name,
      title: name,
      input: z.object({}),
      output: z.object({}),
      read: () => Promise.reject(new CoworkError('not_found', 'Not found: x', { hint })),
    })
  const rig = await openRig({
    tools: [
      failing('read_it', 'Call search_it or trash_list.'),
      { ...failing('search_it', 'None.'), core: true },
      failing('trash_list', 'None.'),
    ],
    discovery: true,
  })
  const hintOf = async (arrival: Partial<IncomingRequest>) => {
    const client = await connect(rig, 'auto', arrival)
    return parseText(await client.callTool({ name: 'read_it', arguments: {} }))
  }
  expect(await hintOf({})).toContain(
    'trash_list is not in your list: call cowork_use {"tool": "trash_list", "arguments": {…}}.',
  )
  expect(await hintOf({ query: { tools: 'read_it' } })).toContain(
    'search_it, trash_list are not in your list',
  )
  expect(await hintOf({ query: { tools: 'all' } })).not.toContain('cowork_use')
})
