import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Tool } from '#base/tool.ts'
import { actingTool, storingTool } from '../../test/acting.ts'
import type { Effect } from '../../test/acting.ts'
import { anna, check, decide, getOutcomes, sales, support, trusted } from '../../test/acts.ts'
import { governed, openGoverned, sqliteStore } from '../../test/governed.ts'
import type { Governed, Said, Settings } from '../../test/governed.ts'

const waits = { fault: 'approval_required', status: 'pending', approval_id: expect.any(String) }
const minute = 60_000

/** A server named crm with a tool that writes. */
async function upstream(settings: Settings = {}, draw = () => 1) {
  const { tool, runs } = actingTool('crm', 'write')
  const system = await governed(settings, { tools: [tool, storingTool('crm')], draw })
  const write = (more: object = {}, by = sales) =>
    system.call('crm_write', { path: '/a', ...more }, by)
  return { ...system, write, runs, tool }
}
const approvalOf = (result: Said) => String(result['approval_id'])

test('A2 L12 a repeated call is recorded with its approval, whatever the clock of the approval', async () => {
  const { write, entries, now } = await upstream()
  const added = { ...sales, since: now() + minute }
  const id = approvalOf(await write({}, added))
  expect(approvalOf(await write({}, added))).toBe(id)
  await expect
    .poll(() => entries(['call.refused']))
    .toMatchObject([{ outcome: 'approval_required', ids: { approval: id } }])
})

describe('calls that need approval', () => {
  test.each<[string, Effect, 'acts' | 'by trust']>([
    ['crm', 'read', 'acts'],
    ['crm', 'write', 'by trust'],
    ['crm', 'destructive', 'by trust'],
    ['files', 'read', 'acts'],
    ['files', 'write', 'acts'],
    ['files', 'destructive', 'by trust'],
    ['work', 'write', 'acts'],
    ['jobs', 'write', 'acts'],
    ['cowork', 'write', 'acts'],
    ['cowork', 'destructive', 'acts'],
  ])('Y9 toolset %s, effect %s: %s', async (toolset, effect, expected) => {
    const { tool, runs } = actingTool(toolset, effect)
    const system = await governed({}, { tools: [tool] })
    const call = (by = sales) => system.call(tool.name, { path: '/a' }, by)
    expect(await call()).toMatchObject(expected === 'acts' ? { done: '/a' } : waits)
    expect(runs).toHaveLength(expected === 'acts' ? 1 : 0)
    expect(await call(anna)).toEqual({ done: '/a' })
    await trusted(system, 0.9, 'support', toolset)
    const risk = effect === 'destructive' ? 'high' : 'normal'
    // Vouching does not cover destructive calls (RS2).
    const isVouched = risk === 'normal' || expected === 'acts'
    expect(await call(support)).toMatchObject(isVouched ? { done: '/a' } : waits)
    for (const asked of await system.governance.approvals.list({ limit: 9 }))
      expect(asked).toMatchObject({ kind: 'call', risk, action: tool.name, domain: toolset })
  })

  test.each<[string, Effect, boolean]>([
    ['files', 'write', true],
    ['work', 'write', true],
    ['crm', 'write', true],
    ['files', 'read', false],
    ['cowork', 'write', false],
  ])(
    'A12 every_write requires approval of %s %s at any trust: %s',
    async (toolset, effect, asks) => {
      const { tool } = actingTool(toolset, effect)
      const system = await governed({ 'approvals.every_write': true }, { tools: [tool] })
      await trusted(system, 0.95, 'sales', toolset)
      const reply = await system.call(tool.name, { path: '/a' })
      expect(reply).toMatchObject(asks ? { ...waits, mode: 'suggest' } : { done: '/a' })
      expect(await system.call(tool.name, { path: '/a' }, anna)).toEqual({ done: '/a' })
      if (!asks) return
      const detail = await system.governance.inbox.detail(anna, approvalOf(reply))
      expect(detail?.why.text).toContain('approvals.every_write')
      await decide(system, [approvalOf(reply)])
      expect(await system.call(tool.name, { path: '/a' })).toEqual({ done: '/a' })
      expect(await system.call(tool.name, { path: '/b' })).toMatchObject(waits)
    },
  )

  test.each([
    ['act', 'act'],
    ['suggest', 'suggest'],
    ['escalate', 'escalate'],
  ])('M6 without trust, default_mode %s applies: %s', async (defaultMode, mode) => {
    const system = await upstream({
      'authority.default_mode': defaultMode,
      'trust.default_level': 0.9,
      'trust.evidence_gate': false,
    })
    expect(await system.write()).toMatchObject(mode === 'act' ? { done: '/a' } : { ...waits, mode })
    const strict = await upstream({ 'authority.default_mode': defaultMode })
    expect(await strict.write()).toMatchObject({ ...waits, mode: 'escalate' })
    const risky = await upstream({
      'authority.default_mode': defaultMode,
      'authority.high_risk_fields': ['text'],
    })
    const expected = defaultMode === 'escalate' ? 'escalate' : 'suggest'
    expect(await risky.write()).toMatchObject({ mode: expected })
  })

  test('Y9 a call too large to review is refused without an approval request', async () => {
    const { write, governance } = await upstream()
    expect(await write({ text: 'x'.repeat(1_000_000) })).toMatchObject({ fault: 'too_large' })
    expect(await governance.approvals.list({ limit: 9 })).toEqual([])
    expect(await write({ text: 'x' })).toMatchObject(waits)
  })

  test('Y7 a hard stop blocks a call like a proposal, at any trust', async () => {
    const system = await upstream({
      policies: [
        {
          id: 'p',
          rules: [
            { id: 'r', field: 'path', constraint: 'regex', pattern: '^/a' },
            { id: 'two', field: 'fail', constraint: 'high_risk', approvers: 2 },
          ],
        },
      ],
      mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'p' }],
    })
    await trusted(system, 0.95)
    expect(await system.write()).toEqual({ done: '/a' })
    expect(await system.write({ path: '/b' })).toMatchObject({
      fault: 'policy_blocked',
      blocked: true,
      violations: [{ rule_id: 'r', field: 'path' }],
    })
    const asked = await system.write({ fail: false })
    expect(asked).toMatchObject({ ...waits, mode: 'suggest' })
    const [outcome] = getOutcomes(await decide(system, [approvalOf(asked)]))
    expect(outcome).toMatchObject({ status: 'voted' })
    expect(system.runs).toHaveLength(1)
  })

  test('A11 arguments that cannot be reviewed are refused', async () => {
    const system = await upstream()
    for (const path of ['half \ud83d', 'nul \0'])
      expect(await system.write({ path })).toMatchObject({ fault: 'invalid_input' })
    expect(await system.write({ text: 'half \ud83d' })).toMatchObject({ fault: 'invalid_input' })
    expect(system.runs).toEqual([])
  })

  test('V1 pending calls count, and calls allowed by trust do not', async () => {
    const system = await upstream({ 'authority.volume_cap': 2 })
    for (const path of ['/a', '/b']) expect(await system.write({ path })).toMatchObject(waits)
    expect(await system.write({ path: '/a' })).toMatchObject(waits)
    expect(await system.write({ path: '/c' })).toMatchObject({
      fault: 'VOLUME_CAP_EXCEEDED',
      volume_cap_error: true,
      retry_after_seconds: expect.any(Number),
    })
    await trusted(system, 0.9)
    expect(await system.write({ path: '/c' })).toEqual({ done: '/c' })
  })
})

describe('a pending call', () => {
  test('A2 A15 names the review URL and the next step, and runs once after approval', async () => {
    const system = await upstream()
    const reply = await system.write()
    const id = approvalOf(reply)
    expect(reply).toMatchObject({
      ...waits,
      mode: 'escalate',
      review_url: `http://localhost:8765/inbox/${id}`,
      expires_at: expect.any(String),
      hint: expect.stringContaining(id),
    })
    expect(await system.write()).toMatchObject({ ...waits, approval_id: id })
    await decide(system, [id])
    expect(await check(system, id, { wait_seconds: 25 })).toMatchObject({
      status: 'consumed',
      result: { status: 'done', output: { done: '/a' } },
    })
    const [started] = await system.entries(['call.started'])
    expect(started).toMatchObject({
      ids: { approval: id },
      data: { tool: 'crm_write', decision: { mode: 'escalate', by: 'anna' } },
    })
    expect(await system.write()).toEqual({ done: '/a' })
    expect(system.runs).toHaveLength(1)
    system.move(60 * minute)
    const again = await system.write()
    expect(again).toMatchObject(waits)
    expect(again['approval_id']).not.toBe(id)
  })

  test('A15 concurrent repeats get the same result', async () => {
    const system = await upstream()
    await decide(system, [approvalOf(await system.write())])
    const replies = await Promise.all(Array.from({ length: 5 }, () => system.write()))
    expect(replies).toEqual(Array.from({ length: 5 }, () => ({ done: '/a' })))
    expect(system.runs).toHaveLength(1)
  })

  test('A2 the approval is bound to agent, arguments and tool schema', async () => {
    const store = sqliteStore()
    const { tool, runs } = actingTool('crm', 'write')
    const before = await openGoverned({}, { tools: [tool], runs: false }, store)
    const call = (to: Governed, more: object = {}, by = sales) =>
      to.call('crm_write', { path: '/a', ...more }, by)
    const id = approvalOf(await call(before))
    await decide(before, [id])
    expect(await call(before, { text: 'else' })).toMatchObject(waits)
    expect(await call(before, {}, support)).toMatchObject(waits)
    await before.close()
    const changed = { ...tool, input: tool.input.extend({ more: z.string().optional() }) } as Tool
    const after = await governed({}, { tools: [changed] }, store)
    expect(await check(after, id, { wait_seconds: 25 })).toMatchObject({
      status: 'withdrawn',
      message: expect.stringContaining('crm_write changed after the approval.'),
    })
    expect(await call(after)).toMatchObject(waits)
    expect(runs).toEqual([])
  })

  test('A2 the approval lasts an hour, and a failure is also a result', async () => {
    const system = await upstream()
    const late = approvalOf(await system.write())
    await system.call('cowork_halt', {}, anna)
    await decide(system, [late])
    system.move(60 * minute)
    await system.call('cowork_resume', {}, anna)
    expect(await system.write()).toMatchObject(waits)
    const id = approvalOf(await system.write({ fail: true }))
    await decide(system, [id])
    expect(await system.write({ fail: true })).toMatchObject({ fault: 'disk_full' })
    expect(await check(system, id)).toMatchObject({
      status: 'consumed',
      result: { status: 'failed', code: 'disk_full' },
      message: expect.stringMatching(/^FAILED: crm_write was approved by anna/),
    })
    expect(system.runs).toHaveLength(1)
    system.move(minute)
    expect(await system.write({ fail: true })).toMatchObject(waits)
  })

  test('A2 a call that only changes the store is claimed in its own transaction', async () => {
    const system = await upstream()
    const store = () => system.call('crm_store', { path: '/s' })
    const id = approvalOf(await store())
    await decide(system, [id])
    expect(await store()).toEqual({ stored: '/s' })
    const [done] = await system.entries(['thing.stored'])
    const after = (await system.entries()).find(({ seq }) => seq === (done?.seq ?? 0) + 1)
    expect(after).toMatchObject({ type: 'call.done', ids: { approval: id } })
    expect(await check(system, id)).toMatchObject({
      result: { status: 'done', output: { stored: '/s' } },
    })
  })

  test('B4 a rejected call stays rejected for an hour and costs no trust unless a person records an override', async () => {
    const system = await upstream()
    const id = approvalOf(await system.write())
    const denial = { decision: 'reject', reason: 'not on Fridays' }
    expect(getOutcomes(await decide(system, [id], denial))).toEqual([{ id, status: 'rejected' }])
    expect(await system.write()).toMatchObject({
      fault: 'approval_denied',
      message: 'anna denied crm_write: not on Fridays',
    })
    system.move(60 * minute)
    const next = approvalOf(await system.write())
    const override = { decision: 'reject', override: { type: 'agent_wrong' } }
    expect(getOutcomes(await decide(system, [next], override))).toMatchObject([
      { status: 'rejected', trust: { from: 0.3, to: 0.22 } },
    ])
  })

  test('P7 it expires after 24 hours, and the next call opens a new approval', async () => {
    const system = await upstream()
    const id = approvalOf(await system.write())
    system.move(24 * 60 * minute)
    expect(await check(system, id)).toMatchObject({ status: 'expired' })
    expect(await system.write()).not.toMatchObject({ approval_id: id })
  })

  test('B3 an edited call runs as approved, also with another target and with defaults', async () => {
    const system = await upstream()
    const id = approvalOf(await system.write({ text: 'x' }))
    const wrong = getOutcomes(await decide(system, [id], { change: { path: 7 } }))
    expect(wrong).toMatchObject([{ status: 'error', error: { code: 'invalid_input' } }])
    await decide(system, [id], { change: { path: '/b' } })
    const edited = { approved_change: { path: '/b', text: 'nothing' }, edited_by: 'anna' }
    for (const args of [{ path: '/a', text: 'x' }, { path: '/b' }])
      expect(await system.answer('crm_write', args, sales)).toMatchObject({
        status: 'done',
        output: { done: '/b' },
        earlier: { approval_id: id, ...edited },
      })
    expect(await check(system, id)).toMatchObject({
      ...edited,
      message: expect.stringContaining('The call ran with {"path":"/b","text":"nothing"}'),
    })
    expect(system.runs).toEqual([{ path: '/b', text: 'nothing' }])
  })

  test('A7 pending and approved calls survive a restart', async () => {
    const store = sqliteStore()
    const { tool } = actingTool('crm', 'write')
    const before = await openGoverned({}, { tools: [tool] }, store)
    const call = (to: Governed, path: string) => to.call('crm_write', { path })
    const [one, two] = [approvalOf(await call(before, '/1')), approvalOf(await call(before, '/2'))]
    await decide(before, [one])
    await before.close()
    const after = await governed({}, { tools: [tool] }, store)
    expect(await call(after, '/1')).toEqual({ done: '/1' })
    expect(await call(after, '/2')).toMatchObject({ ...waits, approval_id: two })
  })

  test('T14 an autonomous call can be checked after success; a failed one is not', async () => {
    const system = await upstream({}, () => 0)
    await trusted(system, 0.9)
    await system.write()
    await system.write({ fail: true })
    await system.governance.spotChecks.flush()
    const asked = await system.governance.approvals.list({ limit: 9 })
    expect(asked).toMatchObject([{ kind: 'spot_check', action: 'crm_write', target: '/a' }])
    const [started] = await system.entries(['call.started'])
    expect(started?.data?.['decision']).toMatchObject({
      mode: 'act',
      by: 'trust',
      trust_level: 0.9,
    })
  })
})
