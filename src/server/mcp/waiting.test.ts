import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { call, connect, everywhere, faultOf, setup, urlOf } from '../../../test/waiting.ts'

describe.each(everywhere)('any other client, over %s, %s era', (door, era) => {
  test.each([
    ['nothing', {}],
    ['forms only', { elicitation: { form: {} } }],
    ['elicitation as it was before modes', { elicitation: {} }],
  ])('A5 with %s is told where a person decides and how to ask', async (_, capabilities) => {
    const { rig, theOne, deleted } = await setup()
    const client = await connect(rig, { door, era, capabilities })
    const ask = vi.fn<() => { action: 'accept' }>(() => ({ action: 'accept' }))
    if ('elicitation' in capabilities) client.setRequestHandler('elicitation/create', ask)
    const { text, payload } = faultOf(await client.callTool(call()))
    const id = await theOne()
    expect(payload).toMatchObject({
      code: 'approval_required',
      approval_id: id,
      status: 'pending',
      mode: 'escalate',
      review_url: urlOf(id),
      expires_at: expect.stringMatching(/^\d{4}-/),
    })
    expect(text).toContain(urlOf(id))
    expect(text).toContain('cowork_check_approval')
    expect(ask).not.toHaveBeenCalled()
    expect(deleted).toEqual([])
  })

  test('SV12 a fault fits clients that check every structured answer against the output schema', async () => {
    const { rig } = await setup()
    const client = await connect(rig, { door, era })
    const result = await client.callTool(call())
    if (era === 'legacy') expect(result).not.toHaveProperty('structuredContent')
    else expect(result.structuredContent).toMatchObject({ code: 'approval_required' })
    expect(faultOf(result).payload).toMatchObject({ code: 'approval_required' })
  })

  test('P8 A2 asks until it is decided, then the same call runs once, and then a person is asked anew', async () => {
    const { rig, deleted, theOne, decide, waiting } = await setup()
    const client = await connect(rig, { door, era })
    const { payload } = faultOf(await client.callTool(call()))
    const id = await theOne()
    const again = faultOf(await client.callTool(call()))
    expect(again.payload).toMatchObject({ approval_id: payload['approval_id'] })
    const checked = client.callTool({
      name: 'cowork_check_approval',
      arguments: { approval_id: id, wait_seconds: 25 },
    })
    await decide(id, 'approve', { reason: 'fine' })
    expect((await checked).structuredContent).toMatchObject({
      status: 'approved',
      decided_by: 'anna',
      feedback: 'fine',
    })
    const done = await client.callTool(call())
    expect(done.structuredContent).toEqual({ deleted: 'row-1', reason: 'tidy' })
    expect(deleted).toEqual(['row-1'])
    const kept = await client.callTool({
      name: 'cowork_check_approval',
      arguments: { approval_id: id },
    })
    expect(kept.structuredContent).toMatchObject({
      status: 'consumed',
      result: { status: 'done', output: { deleted: 'row-1' } },
    })
    const third = faultOf(await client.callTool(call()))
    expect(third.payload['approval_id']).not.toBe(id)
    expect(await waiting()).toHaveLength(1)
    expect(deleted).toEqual(['row-1'])
  })

  test('A2 a denied call is refused at once, and people are left in peace for an hour', async () => {
    let time = Date.now()
    const { rig, deleted, theOne, decide, waiting } = await setup({ now: () => time })
    const client = await connect(rig, { door, era })
    await client.callTool(call())
    await decide(await theOne(), 'reject', { reason: 'never' })
    for (let i = 0; i < 2; i++) {
      const { payload } = faultOf(await client.callTool(call()))
      expect(payload).toMatchObject({ code: 'approval_denied', status: 'rejected' })
      expect(payload['message']).toContain('never')
    }
    expect(await waiting()).toEqual([])
    time += 60 * 60 * 1000
    expect(faultOf(await client.callTool(call())).payload.code).toBe('approval_required')
    expect(await waiting()).toHaveLength(1)
    expect(deleted).toEqual([])
  })

  test('B3 A2 is told what was approved instead, and that runs once', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const client = await connect(rig, { door, era })
    await client.callTool(call())
    await decide(await theOne(), 'approve', { change: { id: 'row-2' } })
    const { payload } = faultOf(await client.callTool(call()))
    expect(payload).toMatchObject({ code: 'approved_differently' })
    const approved = z.looseObject({ id: z.string() }).parse(payload['approved_change'])
    const done = await client.callTool({ name: 'crm_delete', arguments: approved })
    expect(done.structuredContent).toEqual({ deleted: 'row-2', reason: 'tidy' })
    const third = faultOf(await client.callTool({ name: 'crm_delete', arguments: approved }))
    expect(third.payload.code).toBe('approval_required')
    expect(deleted).toEqual(['row-2'])
  })
})
