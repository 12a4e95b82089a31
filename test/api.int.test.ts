import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { statePaths } from '../src/base/state.ts'
import { leafHash } from '../src/ledger/tree.ts'

type Entry = { seq: number; at: number; type: string; actor: { kind: string; id: string } }
type Page = { size: number; entries: Entry[]; payloads?: { seq: number }[] }

let app: TestApp
let agent: string
beforeAll(async () => {
  app = await startTestApp()
  const added = await app.call('cowork_add_agent', { id: 'owner' })
  agent = ((await added.json()) as { output: { token: string } }).output.token
  await app.call('cowork_status')
  await app.call('cowork_status', {}, agent)
  await app.call('cowork_halt', { scope: 'domain:crm', force: true, reason: '=HYPERLINK("evil")' })
  // Reads are recorded within 50 ms.
  const recorded = async () => (await ledger('?type=call.done&q=cowork_status')).entries.length
  await vi.waitUntil(async () => (await recorded()) === 2, 10_000)
})
afterAll(() => app.close())

const get = (path: string, token = app.owner) =>
  fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
const read = async <T>(path: string, token?: string) => (await (await get(path, token)).json()) as T
const ledger = (query: string, token?: string) => read<Page>(`/api/ledger${query}`, token)
const post = (path: string, body: unknown, token = app.owner) =>
  fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('tools', () => {
  test('SV22 callers get the tools that they can use, with schemas', async () => {
    const mine = await read<{ name: string; role: string; inputSchema: object }[]>('/api/tools')
    expect(mine).toContainEqual(
      expect.objectContaining({
        name: 'cowork_add_agent',
        by: 'human',
        effect: 'write',
        role: 'owner',
        toolset: 'cowork',
        inputSchema: expect.objectContaining({ type: 'object' }),
        outputSchema: expect.any(Object),
      }),
    )
    const theirs = await read<{ name: string; by: string }[]>('/api/tools', agent)
    expect(theirs.map(({ name }) => name)).toContain('cowork_log')
    expect(theirs.every(({ by }) => by !== 'human')).toBe(true)
  })

  test('SV22 the OpenAPI document contains every tool of the caller and every route', async () => {
    const { openapi, paths } = await read<{ openapi: string; paths: object }>('/api/openapi.json')
    expect(openapi).toMatch(/^3\.1\./)
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/ledger/{seq}', '/api/tools/cowork_halt/call', '/api/sessions']),
    )
    const theirs = await read<{ paths: object }>('/api/openapi.json', agent)
    expect(Object.keys(theirs.paths)).not.toContain('/api/tools/cowork_halt/call')
  })

  test('SV25 a caller above the limit of running requests is refused', async () => {
    const small = await startTestApp({ 'server.limits.calls_in_flight': 1 })
    const half = connect(small.port, '127.0.0.1')
    half.write(
      `POST /api/tools/cowork_status/call HTTP/1.1\r\nHost: localhost:${small.port}\r\nAuthorization: Bearer ${small.owner}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{`,
    )
    await vi.waitFor(async () => {
      const reply = await small.call('cowork_status')
      expect(reply.status).toBe(429)
      expect(reply.headers.get('retry-after')).toBe('1')
      expect(await reply.json()).toMatchObject({ error: { code: 'too_many_calls' } })
    }, 10_000)
    half.destroy()
    await vi.waitFor(
      async () => expect((await small.call('cowork_status')).status).toBe(200),
      10_000,
    )
    await small.close()
  })
})

describe('ledger', () => {
  test('SV22 every filter returns entries in ledger order', async () => {
    const { size, entries } = await ledger('?limit=1000')
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: size }, (_, i) => i + 1))
    const [third] = entries.slice(2)
    const found = async (query: string) => (await ledger(query)).entries.map(({ seq }) => seq)
    const those = (test: (entry: Entry) => boolean) => entries.filter(test).map(({ seq }) => seq)
    expect(await found('?after=2&before=5')).toEqual([3, 4])
    expect(await found('?newest=true&limit=2')).toEqual([size - 1, size])
    expect(await found(`?since=${third?.at}`)).toEqual(those(({ at }) => at >= (third?.at ?? 0)))
    const before = new Date(third?.at ?? 0).toISOString()
    expect(await found(`?until=${before}`)).toEqual(those(({ at }) => at < (third?.at ?? 0)))
    expect(await found('?type=call.')).toEqual(those(({ type }) => type.startsWith('call.')))
    expect(await found('?type=halt.set&type=agent.')).toEqual(
      those(({ type }) => type === 'halt.set' || type.startsWith('agent.')),
    )
    expect(await found('?actor=cowork')).toEqual(those(({ actor }) => actor.id === 'cowork'))
    expect(await found('?tool=cowork_h&limit=1')).toHaveLength(1)
    expect(await found('?q=hyperLINK')).not.toHaveLength(0)
    expect(await found('?domain=nowhere')).toEqual([])
    expect((await ledger('?payloads=true&tool=cowork_halt')).payloads).toHaveLength(1)
  })

  test.each([
    'limit=1001',
    'limit=-1',
    'after=x',
    'after=',
    'after=1e3',
    'since=yesterday',
    'type=Nonsense',
    'newest=1',
    'unknown=1',
    'actor=',
    'actor=a&actor=b',
  ])('SV22 an invalid query is refused with the valid parameters: %s', async (query) => {
    const reply = await get(`/api/ledger?${query}`)
    expect(reply.status).toBe(400)
    const { error } = (await reply.json()) as { error: { hint: string; message: string } }
    expect(error.hint).toContain('after, before, since')
  })

  test('L10 an agent sees its own entries, not those of a person with the same id', async () => {
    const { entries } = await ledger('?limit=1000', agent)
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ actor: { kind: 'agent', id: 'owner' }, type: 'call.done' })
    expect((await ledger('?actor=cowork', agent)).entries).toEqual([])
    const own = entries[0]?.seq
    for (const tail of ['', '/proof']) {
      expect((await get(`/api/ledger/${own}${tail}`, agent)).status).toBe(200)
      expect((await get(`/api/ledger/1${tail}`, agent)).status).toBe(404)
    }
    const lines = await (await get('/api/ledger/export', agent)).text()
    expect(lines.trimEnd().split('\n')).toHaveLength(1)
    expect((await post('/api/ledger/verify', {}, agent)).status).toBe(403)
  })

  test('L4 L8 one entry is returned with its hash, payload and position in the chain', async () => {
    const [halt] = (await ledger('?tool=cowork_halt&type=call.done')).entries
    const found = await read<Record<string, unknown>>(`/api/ledger/${halt?.seq}`)
    expect(found).toMatchObject({ entry: halt, prev_ok: true, payload: { scope: 'domain:crm' } })
    const { entry } = await read<{ entry: string }>(`/api/ledger/${halt?.seq}/proof`)
    expect(found['hash']).toBe(leafHash(entry).toString('hex'))
    for (const seq of ['0', '99999']) expect((await get(`/api/ledger/${seq}`)).status).toBe(404)
    for (const seq of ['x', '-1', '1e3', '1.5', '%201', '9'.repeat(20)])
      expect((await get(`/api/ledger/${seq}`)).status, seq).toBe(400)
  })
})

describe('export', () => {
  test('L9 every line of JSONL hashes to the leaf of its entry', async () => {
    const reply = await get('/api/ledger/export?type=halt.')
    expect(reply.headers.get('content-type')).toContain('application/jsonl')
    expect(reply.headers.get('content-disposition')).toMatch(
      /^attachment; filename="cowork-.*\.jsonl"$/,
    )
    const lines = (await reply.text()).trimEnd().split('\n')
    expect(lines).toHaveLength(1)
    const { seq } = JSON.parse(lines[0] ?? '') as Entry
    const { hash } = await read<{ hash: string }>(`/api/ledger/${seq}`)
    expect(leafHash(lines[0] ?? '').toString('hex')).toBe(hash)
  })

  test('C8 CSV has a line for each entry', async () => {
    const reply = await get('/api/ledger/export?format=csv&type=halt.')
    const [head, line, end] = (await reply.text()).split('\r\n')
    expect(head).toMatch(/^seq,time,type,actor_kind,actor,/)
    expect(line).toMatch(/^\d+,20\d\d-.*Z,halt\.set,human,owner,/)
    expect(end).toBe('')
  })

  test('SV25 an export of several pages is complete during writes', async () => {
    for (let i = 0; i < 14; i++)
      await Promise.all(Array.from({ length: 50 }, () => app.call('cowork_status', {}, agent)))
    await vi.waitFor(
      async () => expect((await ledger('?limit=0')).size).toBeGreaterThan(700),
      10_000,
    )
    const writing = app.call('cowork_status')
    const lines = (await (await get('/api/ledger/export')).text()).trimEnd().split('\n')
    await writing
    const seqs = lines.map((line) => (JSON.parse(line) as Entry).seq)
    expect(seqs.length).toBeGreaterThan(700)
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
  })
})

describe('verify', () => {
  const lines = async (reply: Response) =>
    (await reply.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('L6 C8 verification reports progress and result during writes', async () => {
    const writing = Array.from({ length: 50 }, () => app.call('cowork_status', {}, agent))
    const reply = await post('/api/ledger/verify', { deep: true })
    const events = await lines(reply)
    await Promise.all(writing)
    expect(events[0]).toEqual({ entries: 0, total: expect.any(Number) })
    expect(events.at(-1)).toMatchObject({
      result: { ok: true, entries: events[0]?.['total'], problems: [], vkey: expect.any(String) },
    })
  })

  test('RS6 L20 verification reports a forged trust score', async () => {
    const given = { agent_id: 'sales', domain: 'crm', score: 0.42, reason: 'known' }
    await app.call('cowork_set_trust', given)
    const db = new DatabaseSync(statePaths(app.state).store)
    const forge = (score: number) => db.exec(`UPDATE trust SET score = ${score}`)
    forge(0.95)
    const forged = (await lines(await post('/api/ledger/verify', {}))).at(-1)
    const why =
      'trust of agent "sales" in domain "crm": score is 0.95 in the store and 0.42 in the ledger'
    expect(forged).toMatchObject({ result: { ok: false, problems: [{ why }] } })
    forge(0.42)
    db.close()
    const repaired = (await lines(await post('/api/ledger/verify', {}))).at(-1)
    expect(repaired).toMatchObject({ result: { ok: true } })
  })

  test('SV22 unknown verification options are refused', async () => {
    expect((await post('/api/ledger/verify', { deep: 'yes' })).status).toBe(400)
    expect((await post('/api/ledger/verify', { other: 1 })).status).toBe(400)
  })
})

describe('metrics', () => {
  test('SV24 metrics need a token and count events', async () => {
    expect((await fetch(`${app.url}/metrics`)).status).toBe(401)
    await app.call('cowork_nothing')
    // The loop is watched from the first look on.
    await get('/metrics')
    const reply = await get('/metrics')
    expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const text = await reply.text()
    for (const line of [
      /^cowork_calls_total\{tool="cowork_status",outcome="done"\} \d+$/m,
      /^cowork_calls_total\{tool="unknown",outcome="refused"\} 1$/m,
      /^cowork_call_seconds_bucket\{tool="cowork_status",le="\+Inf"\} \d+$/m,
      /^cowork_commit_entries_count \d+$/m,
      /^cowork_http_responses_total\{status="401"\} 1$/m,
      /^cowork_ledger_entries \d{3,}$/m,
      /^cowork_live_listeners 0$/m,
      /^cowork_mcp_sessions 0$/m,
      /^process_resident_memory_bytes \d{7,}$/m,
      /^cowork_event_loop_seconds\{quantile="0.99"\} [\d.e-]+$/m,
    ])
      expect(text).toMatch(line)
    expect(text).not.toContain('cowork_nothing')
  })

  test('SV24 an agent needs the metrics scope', async () => {
    expect((await get('/metrics', agent)).status).toBe(200)
    const added = await app.call('cowork_add_agent', { id: 'narrow', scopes: ['read:files'] })
    const { output } = (await added.json()) as { output: { token: string } }
    expect((await get('/metrics', output.token)).status).toBe(403)
  })
})
