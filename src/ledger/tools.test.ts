import { afterEach, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import type { Draft } from '#base/entry.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { ledgerTools } from './tools.ts'

const agent: Caller = { kind: 'agent', id: 'sales', session: 's1', verified: true, scopes: ['*'] }
const person: Caller = { ...agent, kind: 'human', id: 'ann', role: 'owner' }

let open: TestLedger | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const called = (tool: string, subject: string, more: Partial<Draft> = {}): Draft => ({
  type: 'call.done',
  actor: { kind: 'agent', id: 'sales', session: 's1' },
  domain: 'granted',
  subject,
  data: { tool },
  ...more,
})

async function setup() {
  open = await openTestLedger()
  const { ledger } = open
  const drafts = [
    called('read_file', '/docs/a.txt', {
      ids: { grant: 'g1' },
      data: { tool: 'read_file', size_bytes: 7 },
    }),
    called('read_folder', '/docs'),
    called('write_file', '/docs/b.txt', { type: 'call.failed' }),
    called('write_file', '/other', { type: 'call.refused', actor: { kind: 'agent', id: 'ops' } }),
    { ...called('x', '/docs'), type: 'call.started' },
    // A proposal is its own call; before 0014 it had one beside it and named no tool.
    called('cowork_propose', 'deal-1', { type: 'proposal.created', domain: 'crm' }),
    called('', 'deal-1', { type: 'proposal.created', domain: 'crm', data: {} }),
  ]
  for (const draft of drafts) await ledger.record(draft)
  const tool = ledgerTools(ledger).find(({ name }) => name === 'get_audit_log')
  return async (args: object = {}, caller = person) => {
    const call = {
      id: 'c',
      caller,
      signal: new AbortController().signal,
      progress: () => undefined,
      tell: () => undefined,
    }
    const answer = (await tool?.run?.(tool.input.parse(args), call)) as
      | { entries: Record<string, unknown>[] }
      | undefined
    return answer?.entries ?? []
  }
}

test('L10 get_audit_log answers in the names of the seed, newest first, with times in UTC', async () => {
  const ask = await setup()
  const entries = await ask()
  expect(entries.map(({ operation, success }) => [operation, success])).toEqual([
    ['cowork_propose', true],
    ['write_file', false],
    ['write_file', false],
    ['read_folder', true],
    ['read_file', true],
  ])
  expect(entries.at(-1)).toEqual({
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    operation: 'read_file',
    path: '/docs/a.txt',
    domain: 'granted',
    grant_id: 'g1',
    agent_id: 'sales',
    session_id: 's1',
    success: true,
    size_bytes: 7,
  })
})

test('L10 get_audit_log filters by path, operation and date, and an agent sees its own', async () => {
  const ask = await setup()
  const paths = async (args: object, caller?: Caller) =>
    (await ask(args, caller)).map(({ path }) => path)
  expect(await paths({ operation_filter: 'read' })).toEqual(['/docs', '/docs/a.txt'])
  expect(await paths({ path_filter: '/docs/' })).toEqual(['/docs/b.txt', '/docs/a.txt'])
  expect(await paths({ path_filter: '/docs/', operation_filter: 'write' })).toEqual(['/docs/b.txt'])
  expect(await paths({ limit: 2 })).toEqual(['deal-1', '/other'])
  expect(await paths({}, agent)).toEqual(['deal-1', '/docs/b.txt', '/docs', '/docs/a.txt'])
  expect(await paths({}, { ...person, id: 'sales' })).toHaveLength(5)
  expect(await paths({ date_from: '2020-01-01' })).toHaveLength(5)
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  expect(await paths({ date_from: tomorrow })).toEqual([])
  await expect(ask({ date_from: 'yesterday-ish' })).rejects.toMatchObject({ code: 'invalid_input' })
})
