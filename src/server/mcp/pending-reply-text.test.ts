import type { ClientCapabilities } from '@modelcontextprotocol/client'
import { describe, expect, test, vi } from 'vitest'
import { call, connect, everywhere, parseFault, setup, toInboxUrl } from '../../../test/waiting.ts'
import type { Connecting, Rig } from '../../../test/waiting.ts'

/** Longer than any test: a call that waits for it fails the test. */
const waitMs = 10 * 60 * 1000

type Action = 'accept' | 'decline' | 'cancel'
const capabilities: ClientCapabilities = { elicitation: { form: {}, url: {} } }

/** A client that shows URLs, with the response of its user. */
async function showing(
  rig: Rig,
  by: Connecting,
  answer: () => Action | Promise<Action> = () => 'accept',
) {
  const client = await connect(rig, { ...by, capabilities })
  const shown: Record<string, unknown>[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    shown.push(params)
    return { action: await answer() }
  })
  return {
    client,
    shown,
    /** Starts a call and resolves when only a decision is missing. */
    async held(signal?: AbortSignal) {
      const before = shown.length
      const messages: (string | undefined)[] = []
      const result = client.callTool(call(), {
        onprogress: ({ message }) => messages.push(message),
        ...(signal && { signal }),
      })
      // The client itself also reports its prompt.
      await expect.poll(() => messages.join()).toContain('Waiting for a person: http')
      await expect.poll(() => shown.length).toBeGreaterThan(before)
      return { result }
    },
  }
}

describe.each(everywhere)('a client that can show a URL, over %s, %s era', (door, era) => {
  const by = { door, era }

  test('A5 shows the inbox, and its call ends with the approval', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const { client, shown, held } = await showing(rig, by)
    const completed = vi.fn<(id: string) => void>()
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      completed(params.elicitationId),
    )
    const { result } = await held()
    const id = await theOne()
    expect(deleted).toEqual([])
    await decide(id, 'approve')
    expect((await result).structuredContent).toEqual({ deleted: 'row-1', reason: 'tidy' })
    expect(deleted).toEqual(['row-1'])
    expect(shown).toHaveLength(1)
    // The URL contains no credential: its visitor signs in.
    expect(shown[0]).toMatchObject({ mode: 'url', url: toInboxUrl(id) })
    expect(shown[0]?.['message']).toMatch(/sales.*crm_delete/)
    const { elicitationId } = shown[0] ?? {}
    expect(typeof elicitationId).toBe(era === 'legacy' ? 'string' : 'undefined')
    const completions = era === 'legacy' ? [[elicitationId]] : []
    await expect.poll(() => completed.mock.calls).toEqual(completions)
  })

  test('A5 does not approve by accepting the prompt', async () => {
    const { rig, deleted, theOne } = await setup({ waitMs: 400 })
    const { client, shown } = await showing(rig, by)
    for (let i = 0; i < 2; i++) {
      const { payload, text } = parseFault(await client.callTool(call()))
      expect(payload).toMatchObject({ code: 'approval_required', status: 'pending' })
      expect(text).toContain(toInboxUrl(await theOne()))
    }
    expect(shown).toHaveLength(2)
    expect(deleted).toEqual([])
  })

  test.each(['decline', 'cancel'] as const)('A5 gets the pending reply by %s', async (action) => {
    const { rig, theOne } = await setup({ waitMs })
    const { client } = await showing(rig, by, () => action)
    const { payload } = parseFault(await client.callTool(call()))
    expect(payload).toMatchObject({ code: 'approval_required', approval_id: await theOne() })
  })

  test('A5 receives a rejection during the call', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const { held } = await showing(rig, by)
    const { result } = await held()
    await decide(await theOne(), 'reject', { reason: 'not today' })
    const { payload } = parseFault(await result)
    expect(payload).toMatchObject({ code: 'approval_denied' })
    expect(payload['message']).toContain('not today')
    expect(deleted).toEqual([])
  })

  test('A15 equal waiting calls get the result of one run without another request', async () => {
    const { rig, deleted, theOne, decide, waiting } = await setup()
    const { held } = await showing(rig, by)
    const calls = [await held(), await held()]
    await decide(await theOne(), 'approve')
    const all = await Promise.all(calls.map(({ result }) => result))
    for (const { structuredContent } of all)
      expect(structuredContent).toEqual({ deleted: 'row-1', reason: 'tidy' })
    expect(deleted).toEqual(['row-1'])
    expect(await waiting()).toEqual([])
  })

  test('SV14 RA12 cancelling a waiting call withdraws its request, which is recorded', async () => {
    const { rig, deleted, theOne, waiting } = await setup({ limits: { callsInFlight: 1 } })
    const { client, held } = await showing(rig, by)
    const stop = new AbortController()
    const { result } = await held(stop.signal)
    const id = await theOne()
    stop.abort(new Error('enough'))
    await expect(result).rejects.toThrow('enough')
    await expect.poll(waiting).toEqual([])
    expect(await rig.ledger.find({ limit: 9, types: ['approval.withdrawn'] })).toMatchObject([
      { actor: { id: 'sales' }, ids: { approval: id }, data: { why: 'cancelled' } },
    ])
    // Another call is possible once the cancelled one has ended.
    const check = { name: 'cowork_check_approval', arguments: { approval_id: id } }
    const answered = async () => (await client.callTool(check)).structuredContent
    await expect
      .poll(() => answered().catch(() => undefined))
      .toMatchObject({ status: 'withdrawn', decided_by: 'sales' })
    expect(deleted).toEqual([])
  })

  test('RA12 cancelling one of two calls for the same request withdraws nothing', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const { held } = await showing(rig, by)
    const stop = new AbortController()
    const first = await held(stop.signal)
    const second = await held()
    stop.abort(new Error('enough'))
    await expect(first.result).rejects.toThrow('enough')
    await decide(await theOne(), 'approve')
    expect((await second.result).structuredContent).toMatchObject({ deleted: 'row-1' })
    expect(deleted).toEqual(['row-1'])
  })

  test('RA12 cancelling a waiting call withdraws nothing while a check waits for its request', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const other = await connect(rig, by)
    await other.callTool(call())
    const id = await theOne()
    const checked = other.callTool({
      name: 'cowork_check_approval',
      arguments: { approval_id: id, wait_seconds: 25 },
    })
    await expect.poll(() => rig.governance.approvals.isAwaited(id)).toBe(true)
    const { held } = await showing(rig, by)
    const stop = new AbortController()
    const { result } = await held(stop.signal)
    stop.abort(new Error('enough'))
    await expect(result).rejects.toThrow('enough')
    await decide(id, 'approve')
    expect((await checked).structuredContent).toMatchObject({ status: 'consumed' })
    expect(deleted).toEqual(['row-1'])
  })

  test('RA12 a waiting call keeps its request when the daemon stops', async () => {
    const { rig, theOne } = await setup()
    const { held } = await showing(rig, by)
    const { result } = await held()
    const id = await theOne()
    await rig.door.close()
    await result
    expect(await rig.governance.approvals.get(id)).toMatchObject({ status: 'pending' })
  })

  test('B3 RA2 gets the edit of a person in both halves of the result', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const { held } = await showing(rig, by)
    const { result } = await held()
    await decide(await theOne(), 'approve', { change: { id: 'row-2' } })
    expect(JSON.stringify((await result).content)).toContain('anna edited')
    expect((await result).structuredContent).toMatchObject({
      deleted: 'row-2',
      approved_change: { id: 'row-2' },
      edited_by: 'anna',
    })
    expect(deleted).toEqual(['row-2'])
  })

  test('SV3 still gets its pending reply when the daemon stops', async () => {
    const { rig, theOne } = await setup()
    const { held } = await showing(rig, by)
    const { result } = await held()
    const id = await theOne()
    await rig.door.close()
    expect(parseFault(await result).payload).toMatchObject({ approval_id: id, status: 'pending' })
  })
})

// The current protocol prompts between two requests, so no prompt can hang or fail.
describe.each(['http', 'stdio'] as const)('within a legacy call, over %s', (door) => {
  const by = { door, era: 'legacy' } as const

  test('A5 an unanswered prompt ends with a decision elsewhere', async () => {
    const { rig, theOne, decide } = await setup()
    const { held } = await showing(rig, by, () => new Promise(() => undefined))
    const { result } = await held()
    await decide(await theOne(), 'approve')
    expect((await result).structuredContent).toMatchObject({ deleted: 'row-1' })
  })

  test('A5 a client that fails to show the prompt gets the pending reply', async () => {
    const { rig, theOne } = await setup({ waitMs })
    const { client } = await showing(rig, by, () => Promise.reject(new Error('no browser')))
    const { payload } = parseFault(await client.callTool(call()))
    expect(payload).toMatchObject({ code: 'approval_required', approval_id: await theOne() })
  })
})
