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
  textOf,
  tool,
  tools,
} from '../../../test/mcp-door.ts'
import type { Era } from '../../../test/mcp-door.ts'

const eras: Era[] = ['legacy', 'auto']

describe.each(eras)('%s era over HTTP', (era) => {
  test('SV10 a client of this era lists and calls tools', async () => {
    const rig = await openRig()
    const client = await connect(rig, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25')
    const listed = await client.listTools()
    expect(listed.tools.map((tool) => tool.name)).toEqual(['approve', 'broken', 'echo', 'say'])
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(answer.structuredContent).toMatchObject({ word: 'hello', caller: 'probe' })
  })

  test('SV12 structuredContent matches the output schema and content alone is enough', async () => {
    const client = await connect(await openRig(), era)
    await client.listTools()
    const answer = await client.callTool({ name: 'echo', arguments: { word: 'hello' } })
    expect(JSON.parse(textOf(answer))).toEqual(answer.structuredContent)
    const lines = await client.callTool({ name: 'say', arguments: {} })
    expect(textOf(lines)).toMatch(/^one\n/)
  })

  test('SV12 a fault is isError with code, message and hint, and the client accepts it', async () => {
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
    if (era === 'auto') {
      expect(answer.structuredContent).toEqual(fault)
      expect(textOf(answer)).toBe('There is no file. Look elsewhere.')
    } else {
      expect(answer.structuredContent).toBeUndefined()
      expect(JSON.parse(textOf(answer))).toEqual(fault)
    }
  })

  test('SV12 a bug is answered without its words', async () => {
    const client = await connect(await openRig(), era)
    const answer = await client.callTool({ name: 'broken', arguments: { how: 'bug' } })
    expect(JSON.stringify(answer)).toContain('internal')
    expect(JSON.stringify(answer)).not.toContain('secret detail')
  })

  test('SV12 wrong arguments are a fault the model can read, an unknown tool is a protocol error', async () => {
    const client = await connect(await openRig(), era)
    const answer = await client.callTool({ name: 'echo', arguments: { word: 5 } })
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toContain('word')
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  test('SV11 an address shows its own toolset and refuses the rest', async () => {
    const rig = await openRig()
    const client = await connect(rig, era, { toolset: 'files' })
    const listed = await client.listTools()
    expect(listed.tools.map((tool) => tool.name)).toEqual(['broken', 'echo'])
    await expect(client.callTool({ name: 'say' })).rejects.toMatchObject({ code: -32602 })
    const core = await connect(rig, era, { coreOnly: true })
    expect((await core.listTools()).tools.map((tool) => tool.name)).toEqual(['echo'])
  })

  test('SV11 a list shows what the caller may use, and people’s tools in open mode only', async () => {
    const rig = await openRig({ tools, agents: [sales, support] })
    const names = async (bearer: string) =>
      (await (await connect(rig, era, { bearer })).listTools()).tools.map((tool) => tool.name)
    expect(await names(sales.token)).toEqual(['broken', 'echo', 'say'])
    expect(await names(support.token)).toEqual(['broken', 'echo'])
  })

  test('I12 the client says who it is, and a session is its own', async () => {
    const rig = await openRig()
    const [one, two] = [await connect(rig, era), await connect(rig, era)]
    const answer = await one.callTool({ name: 'say', arguments: {} })
    expect(textOf(answer)).toContain('{"name":"probe","version":"3.1","transport":"http"}')
    const sessionOf = async (client: Client) =>
      z
        .object({ session: z.string() })
        .parse(
          (await client.callTool({ name: 'echo', arguments: { word: 'x' } })).structuredContent,
        ).session
    const first = await sessionOf(one)
    expect(await sessionOf(one)).toBe(first)
    // The newer era has no sessions on the wire: they belong to the token, here to the open agent id.
    if (era === 'auto') expect(await sessionOf(two)).toBe(first)
    else expect(await sessionOf(two)).not.toBe(first)
  })

  test('I3 a wrong or missing token is refused with 401 and the next step', async () => {
    const rig = await openRig({ tools, agents: [sales] })
    const { body, headers } =
      era === 'auto' ? modernCall('echo', { word: 'x' }) : { body: initialize(), headers: {} }
    for (const arrival of [{}, { bearer: 'wrong' }]) {
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

  test('SV12 who connects is told in short how to work here, as far as it has the tools for it', async () => {
    const rig = await openRig()
    const told = (await connect(rig, era)).getInstructions() ?? ''
    expect(told).toMatch(/workspace.*~\/.*request_grant.*trash.*cowork_propose.*approval/)
    expect(told.length).toBeLessThanOrEqual(600)
    const atWork = await connect(rig, era, { toolset: 'work' })
    expect(atWork.getInstructions()).toMatch(/^Where a call needs approval/)
  })

  test('SV14 progress goes forwards, and only to who asked for it', async () => {
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

  test('SV14 a client that cancels stops the call, and the ledger says so', async () => {
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

  test('SV14 the signal of a call is still when its answer is sent', async () => {
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

  test('SV10 a changed list of tools is told', async () => {
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
