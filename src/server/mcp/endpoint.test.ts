import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import {
  connect,
  initialize,
  modernCall,
  openRig,
  post,
  sales,
  support,
  parseText,
  tool,
  tools,
} from '../../../test/mcp-door.ts'
import type { Era } from '../../../test/mcp-door.ts'
import type { IncomingRequest } from './endpoint.ts'

const eras: Era[] = ['legacy', 'auto']

describe.each(eras)('%s era over HTTP', (era) => {
  test('SV10 a client of this era lists and calls tools', async () => {
    const rig = await openRig()
    const client = await connect(rig, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25')
    const listed = await client.listTools()
    expect(listed.tools.map((tool) => tool.name)).toEqual(['echo'])
    // Every tool stays callable, listed or not (SV17).
    expect(parseText(await client.callTool({ name: 'say', arguments: {} }))).toMatch(/^one\n/)
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(answer.structuredContent).toMatchObject({ word: 'hello', caller: 'probe' })
  })

  test('SV19 structuredContent is the output and content alone is enough', async () => {
    const client = await connect(await openRig(), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(JSON.parse(parseText(answer))).toEqual(answer.structuredContent)
    const lines = await client.callTool({ name: 'say', arguments: {} })
    expect(parseText(lines)).toMatch(/^one\n/)
  })

  test('SV19 RA3 an error is prose in the text and an object in structuredContent', async () => {
    const client = await connect(await openRig(), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'broken', arguments: { how: 'file' } })
    const fault = {
      code: 'not_found',
      message: 'There is no file.',
      hint: 'Look elsewhere.',
      how: 'file',
    }
    expect(answer.isError).toBe(true)
    expect(answer.structuredContent).toEqual(fault)
    expect(parseText(answer)).toBe('There is no file. Look elsewhere.')
  })

  test('SV12 the response to a bug does not contain its text', async () => {
    const client = await connect(await openRig(), era)
    const answer = await client.callTool({ name: 'broken', arguments: { how: 'bug' } })
    expect(JSON.stringify(answer)).toContain('internal')
    expect(JSON.stringify(answer)).not.toContain('secret detail')
  })

  test('SV12 invalid arguments are a tool error, an unknown tool is a protocol error', async () => {
    const client = await connect(await openRig(), era)
    const answer = await client.callTool({ name: 'echo', arguments: { word: 5 } })
    expect(answer.isError).toBe(true)
    expect(parseText(answer)).toContain('word')
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  test('SV11 RA8 the path and its query select the listed tools', async () => {
    const rig = await openRig()
    const names = async (arrival: Partial<IncomingRequest>) =>
      (await (await connect(rig, era, arrival)).listTools()).tools.map((tool) => tool.name)
    expect(await names({ toolset: 'files' })).toEqual(['broken', 'echo'])
    expect(await names({ query: { tools: 'core' } })).toEqual(['echo'])
    expect(await names({ query: { tools: 'all' } })).toEqual(['broken', 'echo', 'say'])
    expect(await names({ query: { tools: 'work,echo' } })).toEqual(['echo', 'say'])
    expect(await names({ query: { tools: 'all', exclude: 'echo' } })).toEqual(['broken', 'say'])
    expect(await names({ query: { tools: 'all', read_only: 'true' } })).toEqual(['broken', 'echo'])
  })

  test.each([
    ['tools', 'ecko', 'unknown_tools', /"ecko".*Did you mean echo\?.*core, all, files, work/],
    ['toolsets', 'files', 'unknown_parameter', /Use tools, exclude/],
    ['read_only', 'perhaps', 'unknown_parameter', /read_only=true/],
    ['exclude', 'all', 'empty_selection', /Exclude fewer tools/],
  ])('SV18 RA8 ?%s=%s is refused as %s', async (name, value, code, words) => {
    const rig = await openRig()
    const response = await post(rig, initialize(), { arrival: { query: { [name]: value } } })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error).toMatchObject({ data: { code } })
    expect(error.message).toMatch(words)
    await expect
      .poll(() => rig.ledger.find({ types: ['request.refused'], limit: 10 }))
      .toMatchObject([{ outcome: code, subject: '127.0.0.1', data: { count: 1 } }])
  })

  test('SV27 invalid JSON is refused and recorded, many per second in one entry', async () => {
    const rig = await openRig()
    for (let sent = 0; sent < 20; sent++) expect((await post(rig, '{"jsonrpc":')).status).toBe(400)
    await expect
      .poll(() => rig.ledger.find({ types: ['request.refused'], limit: 10, newestFirst: true }))
      .toMatchObject([{ data: { count: 19 } }, { outcome: 'invalid_json', data: { count: 1 } }])
  })

  test('SV18 excluded tools, and writes of a read-only connection, are refused and recorded', async () => {
    const rig = await openRig()
    for (const query of [{ exclude: 'say' }, { read_only: 'true' }]) {
      const client = await connect(rig, era, { query })
      const answer = await client.callTool({ name: 'say', arguments: {} })
      expect(answer).toMatchObject({ isError: true })
      expect(parseText(answer)).toContain('say is not available')
    }
    await expect
      .poll(async () => {
        const refused = await rig.ledger.find({ types: ['call.refused'], limit: 10 })
        return refused.map(({ outcome }) => outcome)
      })
      .toEqual(['tool_excluded', 'tool_excluded'])
  })

  test('SV18 the refusal contains the reason for the exclusion', async () => {
    const rig = await openRig()
    const query = { tools: 'all', read_only: 'true', exclude: 'echo' }
    const client = await connect(rig, era, { query })
    const reasonOf = async (name: string, args = {}) =>
      parseText(await client.callTool({ name, arguments: args }))
    expect(await reasonOf('echo', { word: 'x' })).toContain('excludes this tool')
    expect(await reasonOf('say')).toContain('is read-only')
  })

  test('SV18 an agent can always follow and withdraw its requests', async () => {
    const rig = await openRig({ tools, governed: true })
    const client = await connect(rig, era, { query: { tools: 'files', exclude: 'cowork' } })
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).not.toContain('cowork_check_approval')
    for (const name of ['cowork_check_approval', 'cowork_withdraw']) {
      const answer = await client.callTool({ name, arguments: { approval_id: 'none' } })
      expect(answer.structuredContent, name).toMatchObject({ code: 'not_found' })
    }
  })

  test('SV17 RA9 a list contains usable tools and no tools for people', async () => {
    const rig = await openRig({ tools, agents: [sales, support] })
    const names = async (bearer: string) => {
      const client = await connect(rig, era, { bearer, query: { tools: 'all' } })
      return (await client.listTools()).tools.map((tool) => tool.name)
    }
    expect(await names(sales.token)).toEqual(['broken', 'echo', 'say'])
    expect(await names(support.token)).toEqual(['broken', 'echo'])
  })

  test('SV21 RA7 tools are listed without a token, and a call passes it as agent_token', async () => {
    const rig = await openRig({ tools, agents: [sales] })
    const client = await connect(rig, era)
    const [listed] = (await client.listTools()).tools
    expect(listed).toMatchObject({
      name: 'echo',
      inputSchema: {
        properties: { word: {}, agent_token: { type: 'string' } },
        required: ['word', 'agent_token'],
      },
    })
    const asked = await connect(rig, era, { query: { tools: 'all' } })
    expect((await asked.listTools()).tools.map(({ name }) => name)).toEqual(['echo'])
    const named = { word: 'x', agent_token: sales.token }
    const good = await client.callTool({ name: 'echo', arguments: named })
    expect(good.structuredContent).toMatchObject({ caller: 'sales' })
    const wrong = { word: 'x', agent_token: 'sk-cowork-wrong' }
    const bad = await client.callTool({ name: 'echo', arguments: wrong })
    expect(bad).toMatchObject({ isError: true })
    await expect(client.callTool({ name: 'echo', arguments: { word: 'x' } })).rejects.toThrow(
      'Token required',
    )
  })

  test('SV21 RA7 with authentication off agent_token is ignored, and a wrong bearer refused', async () => {
    const rig = await openRig()
    const client = await connect(rig, era)
    const [listed] = (await client.listTools()).tools
    expect(Object.keys(listed?.inputSchema.properties ?? {})).toEqual(['word', 'agent_id'])
    const named = { word: 'x', agent_token: 'sk-cowork-any' }
    const answer = await client.callTool({ name: 'echo', arguments: named })
    expect(answer.structuredContent).toMatchObject({ word: 'x', caller: 'probe' })
    const refused = await post(rig, initialize(), { arrival: { bearer: 'wrong' } })
    expect(refused.status).toBe(401)
  })

  test('I12 the client name is recorded, and each session has its own id', async () => {
    const rig = await openRig()
    const [one, two] = [await connect(rig, era), await connect(rig, era)]
    const answer = await one.callTool({ name: 'say', arguments: {} })
    expect(parseText(answer)).toContain('{"name":"probe","version":"3.1","transport":"http"}')
    const sessionOf = async (client: Client) =>
      z
        .object({ session: z.string() })
        .parse(
          (await client.callTool({ name: 'echo', arguments: { word: 'x' } })).structuredContent,
        ).session
    const first = await sessionOf(one)
    expect(await sessionOf(one)).toBe(first)
    // The current protocol has no sessions: they belong to the token, here to the unauthenticated
    // agent id.
    if (era === 'auto') expect(await sessionOf(two)).toBe(first)
    else expect(await sessionOf(two)).not.toBe(first)
  })

  test('I3 a wrong or missing token is refused with 401 and the next step', async () => {
    const rig = await openRig({ tools, agents: [sales] })
    const { body, headers } =
      era === 'auto' ? modernCall('echo', { word: 'x' }) : { body: initialize(), headers: {} }
    // The handshake needs no token: a legacy client passes it with its calls.
    for (const arrival of era === 'auto' ? [{}, { bearer: 'wrong' }] : [{ bearer: 'wrong' }]) {
      const response = await post(rig, body, { headers, arrival })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
      expect(await response.json()).toMatchObject({
        jsonrpc: '2.0',
        id: body.id,
        error: { data: { error: true, auth_error: true, hint: expect.any(String) } },
      })
    }
  })

  test('SV17 the instructions name the tool groups, the work loop and what pending means', async () => {
    const rig = await openRig()
    const all = (await connect(rig, era, { query: { tools: 'all' } })).getInstructions() ?? ''
    expect(all).toMatch(/read_file[^]*~\/[^]*request_grant[^]*trash/)
    expect(all).toMatch(/worksync_ready → worksync_claim → do it → worksync_done/)
    expect(all).toMatch(/Pending is not failure[^]*Do not work around it/)
    expect(all).toMatch(/cowork_find_tools[^]*cowork_use/)
    // Claude Code truncates instructions after 2 kB.
    expect(Buffer.byteLength(all)).toBeLessThanOrEqual(1900)
    const atWork = (await connect(rig, era, { toolset: 'work' })).getInstructions()
    expect(atWork).toContain('worksync_ready')
    expect(atWork).not.toContain('read_file')
    // The tool selection of the agent applies, too.
    const chosen = { ...sales, tools: ['all'], exclude: ['files'] }
    const closed = await openRig({ tools, agents: [chosen] })
    const theirs = (await connect(closed, era, { bearer: sales.token })).getInstructions()
    expect(theirs).toContain('worksync_ready')
    expect(theirs).not.toContain('read_file')
  })

  test('SV14 progress only increases, and goes only to clients that requested it', async () => {
    const steps = tool('steps', (call) => {
      call.progress(1, 3, 'one')
      call.progress(1, 3)
      call.progress(2, 3)
      return delay(5, 'done')
    })
    const client = await connect(await openRig({ tools: [steps] }), era)
    const seen: unknown[] = []
    await client.callTool({ name: 'steps' }, { onprogress: (progress) => seen.push(progress) })
    expect(seen).toEqual([
      { progress: 1, total: 3, message: 'one' },
      { progress: 2, total: 3 },
    ])
    await expect(client.callTool({ name: 'steps' })).resolves.toMatchObject({
      content: expect.anything(),
    })
  })

  test('SV14 a cancellation stops the call and is recorded', async () => {
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const wait = tool('wait', async ({ signal }) => {
      started.resolve()
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }).finally(stopped.resolve)
      return 'never'
    })
    const rig = await openRig({ tools: [wait] })
    const client = await connect(rig, era)
    const abort = new AbortController()
    const call = client.callTool({ name: 'wait' }, { signal: abort.signal })
    await started.promise
    abort.abort()
    await expect(call).rejects.toThrow('abort')
    await stopped.promise
    await vi.waitFor(async () => {
      const [entry] = await rig.ledger.find({ types: ['call.failed'], limit: 1, newestFirst: true })
      expect(entry?.outcome).toBe('cancelled')
    }, 10_000)
  })

  test('SV14 the response does not abort the signal of the call', async () => {
    let kept: AbortSignal | undefined
    const keep = tool('keep', async ({ signal }) => {
      kept = signal
      return 'kept'
    })
    const client = await connect(await openRig({ tools: [keep] }), era)
    await client.callTool({ name: 'keep' })
    await delay(20)
    expect(kept?.aborted).toBe(false)
  })

  test('SV10 a changed tool list is announced', async () => {
    const rig = await openRig()
    const onChanged = vi.fn<() => void>()
    const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged } }
    await connect(rig, era, {}, { listChanged })
    await vi.waitFor(() => {
      rig.door.toolsChanged()
      expect(onChanged).toHaveBeenCalled()
    }, 10_000)
  })
})
