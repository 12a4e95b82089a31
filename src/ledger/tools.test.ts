import { afterEach, expect, test } from 'vitest'
import type { Caller } from '#base/caller.ts'
import type { EntryDraft } from '#base/entry.ts'
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

const called = (tool: string, subject: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
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
    // A proposal entry records its call; before 0014 it had a separate call entry and no tool.
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
      addDetails: () => undefined,
    }
    const answer = (await tool?.read?.(tool.input.parse(args), call)) as
      | { entries: Record<string, unknown>[] }
      | undefined
    return answer?.entries ?? []
  }
}

test('L10 I4 an agent never sees entries of an earlier holder of its id', async () => {
  const ask = await setup()
  const later = { ...agent, since: Date.now() + 60_000 }
  expect(await ask({}, agent)).not.toEqual([])
  for (const args of [{}, { date_from: '2020-01-01' }]) expect(await ask(args, later)).toEqual([])
})

test('L10 get_audit_log returns the fields of File Ops, newest first, with times in UTC', async () => {
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

test('L10 FT8 a call with several files has a line for each, found by path', async () => {
  const ask = await setup()
  const files = [
    { path: '/home/ann/a.txt', area: 'workspace', size_bytes: 3 },
    { path: '/docs/c.txt', area: 'granted', grant: 'g1' },
    { path: '/etc/x', area: 'granted', success: false, code: 'forbidden_path' },
  ]
  const data = { tool: 'read_files', area: 'workspace', size_bytes: 3, files }
  await open?.ledger.record(called('read_files', '/home/ann/a.txt', { data }))
  const lines = async (args: object) =>
    (await ask({ operation_filter: 'read_files', ...args })).map(
      ({ path, domain, grant_id, success, size_bytes }) => ({
        path,
        domain,
        grant_id,
        success,
        size_bytes,
      }),
    )
  const [a, c, x] = [
    { path: '/home/ann/a.txt', domain: 'workspace', success: true, size_bytes: 3 },
    { path: '/docs/c.txt', domain: 'granted', grant_id: 'g1', success: true },
    { path: '/etc/x', domain: 'granted', success: false },
  ]
  expect(await lines({})).toEqual([a, c, x])
  expect(await lines({ path_filter: '/docs/' })).toEqual([c])
  expect(await lines({ path_filter: '/etc' })).toEqual([x])
  expect(await lines({ path_filter: '/ETC' })).toEqual([])
  expect(await lines({ limit: 2 })).toEqual([a, c])
})

test('L10 FT8 a call without a subject lists its files, and a dry run is marked', async () => {
  const ask = await setup()
  const files = [{ path: '/home/ann/back.txt', area: 'workspace' }]
  const restored = { tool: 'trash_restore', area: 'workspace', size_bytes: 4, files }
  await open?.ledger.record(called('trash_restore', 'deadbeef', { data: restored }))
  const dry = { tool: 'update_file', area: 'workspace', dry_run: true }
  await open?.ledger.record(called('update_file', '/home/ann/dry.txt', { data: dry }))
  expect(await ask({ path_filter: '/home/ann/' })).toMatchObject([
    { operation: 'update_file', path: '/home/ann/dry.txt', dry_run: true },
    { operation: 'trash_restore', path: '/home/ann/back.txt', size_bytes: 4 },
  ])
  expect(await ask({ path_filter: '/docs/a' })).toEqual([
    expect.not.objectContaining({ dry_run: expect.anything() }),
  ])
})
