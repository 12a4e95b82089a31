import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { actingTool } from '../../../test/acting.ts'
import { anna, approve, check, decide, proposed, sales } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const hour = 60 * 60 * 1000

/** Returns the text part of a reply. */
async function textOf(to: Governed, id: unknown, more: object = {}): Promise<string> {
  const result = await check(to, id, more)
  return to.catalogue.find('cowork_check_approval')?.text?.(result) ?? ''
}

test('A15 P8 an approved call that could not run in time is reported as not run', async () => {
  const { tool, runs } = actingTool('mail', 'write')
  const system = await governed({}, { tools: [tool] })
  const { approval_id: id } = await system.call('mail_write', { path: 'a' })
  await system.call('cowork_halt', {}, anna)
  await decide(system, [String(id)])
  system.move(hour)
  await system.call('cowork_resume', {}, anna)
  expect(await check(system, id, { wait_seconds: 1 })).toMatchObject({
    status: 'approved',
    message: expect.stringMatching(/^NOT RUN: mail_write was approved, but the approval expired/),
  })
  const again = await system.call('mail_write', { path: 'a' })
  expect(again).toMatchObject({ fault: 'approval_required' })
  expect(again['approval_id']).not.toBe(id)
  expect(runs).toEqual([])
})

test('RA2 an edited proposal is returned with the edit, in text and structured content', async () => {
  const system = await governed()
  const id = await proposed(system, { proposed_change: { amount: 500 } })
  expect(await textOf(system, id)).toMatch(
    /^PENDING: .*Do not carry out the action, not even with other tools\. Call cowork_check_approval \{"proposal_id":"[\w-]+","wait_seconds":25\}; after two tries tell the user/,
  )
  await decide(system, [id], { change: { amount: 50 } })
  const reply = await check(system, id)
  expect(reply).toMatchObject({
    status: 'approved',
    approved_change: { amount: 50 },
    collaborative: true,
    edited_by: 'anna',
  })
  for (const half of [String(reply['message']), await textOf(system, id)]) {
    expect(half).toContain('APPROVED WITH CHANGES by anna. Do exactly this, not your original:')
    expect(half).toContain('{"amount":50}')
    expect(half).toContain(`Then call cowork_log {"domain":"crm","action":"update_deal"`)
    expect(half).toContain(`"proposal_id":"${id}"}`)
  }
})

test('RA2 the agent carries out a proposal that was approved unchanged', async () => {
  const system = await governed()
  const id = await proposed(system)
  await approve(system, id)
  expect(await textOf(system, id)).toMatch(
    /^APPROVED by anna\. Carry out exactly this: \{"note":"call back"\}\. Then call cowork_log/,
  )
})

test('RA12 P8 a wait above 25 seconds is clamped, not refused', async () => {
  const system = await governed()
  const id = await proposed(system)
  const asked = check(system, id, { wait_seconds: 60 })
  await approve(system, id)
  expect(await asked).toMatchObject({ approval_id: id, status: 'approved' })
  expect(await check(system, id, { wait_seconds: -5 })).toMatchObject({ approval_id: id })
})

test('A15 the reason of a withdrawn call is not presented as text of a person', async () => {
  const { tool } = actingTool('mail', 'write')
  const system = await governed({}, { tools: [tool], runs: false })
  const { approval_id: id } = await system.call('mail_write', { path: 'a' })
  await decide(system, [String(id)], { reason: 'fine' })
  expect(await textOf(system, id)).toContain('The person says: fine')
  await system.governance.approvals.endApproved(String(id), 'Not any more.')
  expect(await check(system, id)).toMatchObject({ status: 'withdrawn', feedback: null })
  const text = await textOf(system, id)
  expect(text).toContain('WITHDRAWN: The request was withdrawn (Not any more.); nothing was done.')
  expect(text).not.toContain('The person says')
})

test('B3 RA2 an edited call is reported with the edit before it runs', async () => {
  const { tool } = actingTool('mail', 'write')
  const system = await governed({}, { tools: [tool], runs: false })
  const { approval_id: id } = await system.call('mail_write', { path: 'a' })
  await decide(system, [String(id)], { change: { path: 'b', text: 'x' } })
  expect(await textOf(system, id)).toMatch(
    /cowork runs mail_write itself\. .*anna edited the arguments\. The call runs with \{"path":"b","text":"x"\}/,
  )
})

test('B3 RA2 an edited call is reported with the edit while it runs and afterwards', async () => {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const slow = defineTool({
    name: 'crm_slow',
    title: 'Slow',
    description: 'For tests',
    toolset: 'crm',
    effect: 'write',
    by: 'agent',
    input: z.object({ text: z.string() }),
    output: z.object({}),
    run: () => promise.then(() => ({ output: {} })),
  })
  const system = await governed({}, { tools: [slow] })
  const { approval_id: id } = await system.call('crm_slow', { text: 'a' })
  await decide(system, [String(id)], { change: { text: 'b' } })
  await expect
    .poll(() => textOf(system, id))
    .toMatch(
      /crm_slow is running\. .*anna edited the arguments\. The call runs with \{"text":"b"\}/,
    )
  end()
  expect(await textOf(system, id, { wait_seconds: 25 })).toContain('The call ran with {"text":"b"}')
})

const dump = defineTool({
  name: 'crm_dump',
  title: 'Dump',
  description: 'For tests',
  toolset: 'crm',
  effect: 'write',
  by: 'agent',
  input: z.object({ text: z.string(), times: z.number() }),
  output: z.object({ dumped: z.string() }),
  run: async ({ text, times }) => ({ output: { dumped: text.repeat(times) } }),
})

async function dumped(text: string, times: number) {
  const system = await governed({}, { tools: [dump] })
  const { approval_id: id } = await system.call('crm_dump', { text, times })
  await decide(system, [String(id)])
  const first = await check(system, id, { wait_seconds: 25 })
  return { system, id, first }
}

test.each([
  ['letters', 'abc', 40_000],
  ['surrogate pairs', '😀', 30_000],
  ['one letter and pairs', 'a😀é中', 20_000],
])('A15 the parts of a large result of %s join to the full result', async (_, text, times) => {
  const { system, id, first } = await dumped(text, times)
  expect(first).toMatchObject({ status: 'consumed', result_handle: id })
  expect(first).not.toHaveProperty('result')
  let json = ''
  for (let reply: Said | undefined = first; reply;) {
    const part = String(reply['result_part'])
    expect(part.isWellFormed()).toBe(true)
    expect(Buffer.byteLength(part)).toBeLessThanOrEqual(25_000)
    expect(system.catalogue.find('cowork_check_approval')?.text?.(reply)).toContain(part)
    json += part
    const { next } = reply as { next?: number }
    reply = next === undefined ? undefined : await check(system, id, { result_from: next })
  }
  expect(json).toHaveLength(Number(first['result_length']))
  expect(JSON.parse(json)).toEqual({ status: 'done', output: { dumped: text.repeat(times) } })
})

test('A15 a small result is complete in text and structured content', async () => {
  const { system, id, first } = await dumped('abc', 2)
  const result = { status: 'done', output: { dumped: 'abcabc' } }
  expect(first).toMatchObject({ result, message: expect.stringMatching(/^DONE: crm_dump/) })
  expect(await textOf(system, id)).toContain(`Result: ${JSON.stringify(result)}`)
})

test('A15 a result over 10 MB is not stored', async () => {
  const { first, system } = await dumped('abcdefghij', 1_000_001)
  expect(first).toMatchObject({ result: { status: 'done', too_large: true } })
  expect(
    await system.call('crm_dump', { text: 'abcdefghij', times: 1_000_001 }, sales),
  ).toMatchObject({ fault: 'result_too_large' })
})

test('A15 a part can start at any position, even beyond the end', async () => {
  const { system, id } = await dumped('😀', 30_000)
  const at = '{"status":"done","output":{"dumped":"'.length
  expect(await check(system, id, { result_from: at + 1 })).toMatchObject({
    result_part: expect.stringMatching(/^😀/u),
  })
  const end = await check(system, id, { result_from: 10_000_000 })
  expect(end).toMatchObject({ result_part: '' })
  expect(end).not.toHaveProperty('next')
})
