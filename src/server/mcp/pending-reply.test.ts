import { describe, expect, test, vi } from 'vitest'
import { call, connect, everywhere, parseFault, setup, toInboxUrl } from '../../../test/waiting.ts'

describe.each(everywhere)('any other client, over %s, %s era', (door, era) => {
  test.each([
    ['nothing', {}],
    ['forms only', { elicitation: { form: {} } }],
    ['elicitation as it was before modes', { elicitation: {} }],
  ])('A5 with %s learns where a person decides and how to check', async (_, capabilities) => {
    const { rig, theOne, deleted } = await setup()
    const client = await connect(rig, { door, era, capabilities })
    const ask = vi.fn<() => { action: 'accept' }>(() => ({ action: 'accept' }))
    if ('elicitation' in capabilities) client.setRequestHandler('elicitation/create', ask)
    const { text, payload } = parseFault(await client.callTool(call()))
    const id = await theOne()
    expect(payload).toMatchObject({
      code: 'approval_required',
      approval_id: id,
      status: 'pending',
      mode: 'escalate',
      review_url: toInboxUrl(id),
      expires_at: expect.stringMatching(/^\d{4}-/),
    })
    expect(text).toContain(toInboxUrl(id))
    expect(text).toContain('cowork_check_approval')
    expect(ask).not.toHaveBeenCalled()
    expect(deleted).toEqual([])
  })

  test('SV19 a pending reply is complete in both halves, and clients accept it', async () => {
    const { rig, theOne } = await setup()
    const client = await connect(rig, { door, era })
    await client.listTools()
    const { text, payload } = parseFault(await client.callTool(call()))
    const id = await theOne()
    const facts = { approval_id: id, status: 'pending', review_url: toInboxUrl(id) }
    expect(payload).toMatchObject({ code: 'approval_required', ...facts })
    for (const fact of Object.values(facts)) expect(text).toContain(fact)
  })

  test('P8 A15 checks until the decision; the call runs once, and a repeated call gets its result', async () => {
    let time = Date.now()
    const { rig, deleted, theOne, decide, waiting } = await setup({ now: () => time })
    const client = await connect(rig, { door, era })
    const { payload } = parseFault(await client.callTool(call()))
    const id = await theOne()
    const again = parseFault(await client.callTool(call()))
    expect(again.payload).toMatchObject({ approval_id: payload['approval_id'] })
    const checked = client.callTool({
      name: 'cowork_check_approval',
      arguments: { approval_id: id, wait_seconds: 25 },
    })
    await decide(id, 'approve', { reason: 'fine' })
    expect((await checked).structuredContent).toMatchObject({
      status: 'consumed',
      decided_by: 'anna',
      feedback: 'fine',
      result: { status: 'done', output: { deleted: 'row-1' } },
    })
    const repeated = await client.callTool(call())
    expect(repeated.structuredContent).toEqual({
      deleted: 'row-1',
      reason: 'tidy',
      approval_id: id,
      not_run_again: true,
    })
    expect(JSON.stringify(repeated.content)).toContain(`already ran under approval ${id}`)
    expect(deleted).toEqual(['row-1'])
    time += 60 * 60 * 1000
    const third = parseFault(await client.callTool(call()))
    expect(third.payload['approval_id']).not.toBe(id)
    expect(await waiting()).toHaveLength(1)
    expect(deleted).toEqual(['row-1'])
  })

  test('A2 a rejected call is refused immediately for an hour', async () => {
    let time = Date.now()
    const { rig, deleted, theOne, decide, waiting } = await setup({ now: () => time })
    const client = await connect(rig, { door, era })
    await client.callTool(call())
    await decide(await theOne(), 'reject', { reason: 'never' })
    for (let i = 0; i < 2; i++) {
      const { payload } = parseFault(await client.callTool(call()))
      expect(payload).toMatchObject({ code: 'approval_denied', status: 'rejected' })
      expect(payload['message']).toContain('never')
    }
    expect(await waiting()).toEqual([])
    time += 60 * 60 * 1000
    expect(parseFault(await client.callTool(call())).payload.code).toBe('approval_required')
    expect(await waiting()).toHaveLength(1)
    expect(deleted).toEqual([])
  })

  test('B3 RA2 an edited call runs once, and both halves of its result contain the edit', async () => {
    const { rig, deleted, theOne, decide } = await setup()
    const client = await connect(rig, { door, era })
    await client.callTool(call())
    const id = await theOne()
    await decide(id, 'approve', { change: { id: 'row-2' } })
    const approved = { id: 'row-2', reason: 'tidy' }
    const asked = [call(), call('row-2')]
    for (const one of asked) {
      const done = await client.callTool(one)
      expect(done.structuredContent).toEqual({
        deleted: 'row-2',
        reason: 'tidy',
        approval_id: id,
        approved_change: approved,
        edited_by: 'anna',
        not_run_again: true,
      })
      expect(JSON.stringify(done.content)).toContain('anna edited the arguments')
      expect(done.content).toContainEqual({
        type: 'text',
        text: expect.stringContaining(JSON.stringify(approved)),
      })
    }
    expect(deleted).toEqual(['row-2'])
  })
})
