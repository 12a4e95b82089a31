import { expect, test } from 'vitest'
import * as z from 'zod'
import { personCaller } from '../../../test/governance.ts'
import {
  call,
  connect,
  parseFault,
  sales,
  setup,
  support,
  takesTasks,
  createTaskClient,
  toInboxUrl,
} from '../../../test/waiting.ts'
import type { Rig } from '../../../test/waiting.ts'

async function withTasks(rig: Rig, token: string | null = sales.token) {
  let last = ''
  const heard = (body: string) => {
    last = body
  }
  const client = await connect(rig, { capabilities: takesTasks, token, heard })
  return { client, ...createTaskClient(client, () => last) }
}

test('A5 SV15 a client with task support gets a task, durable before the reply, that ends with the result', async () => {
  const { rig, deleted, decide } = await setup()
  const { start, get } = await withTasks(rig)
  const id = await start()
  expect(await rig.governance.approvals.get(id)).toMatchObject({
    status: 'pending',
    kind: 'call',
    requester: 'sales',
  })
  expect(await get(id)).toMatchObject({
    taskId: id,
    status: 'working',
    statusMessage: expect.stringContaining(toInboxUrl(id)),
  })
  expect(deleted).toEqual([])
  await decide(id, 'approve')
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  expect(await get(id)).toMatchObject({
    result: {
      content: [{ type: 'text', text: expect.stringContaining('row-1') }],
      structuredContent: { deleted: 'row-1', reason: 'tidy' },
    },
  })
  expect(deleted).toEqual(['row-1'])
})

test('A5 SV15 over stdio, a call is the same task', async () => {
  const { rig, deleted, theOne, decide } = await setup()
  const line = await connect(rig, { door: 'stdio', capabilities: takesTasks })
  await expect(line.callTool(call())).rejects.toMatchObject({ data: { resultType: 'task' } })
  const id = await theOne()
  const overHttp = await withTasks(rig)
  expect(await overHttp.start()).toBe(id)
  await decide(id, 'approve')
  const { get } = createTaskClient(line, () => '')
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  expect(await get(id)).toEqual(await overHttp.get(id))
  expect(deleted).toEqual(['row-1'])
})

test('A2 the tool runs once despite concurrent checks and repeated calls', async () => {
  const { rig, deleted, decide } = await setup()
  const one = await withTasks(rig)
  const other = await withTasks(rig)
  const id = await one.start()
  expect(await other.start()).toBe(id)
  const over = async (get: typeof one.get) => {
    await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
    return get(id)
  }
  const plain = await connect(rig)
  const repeated = async () => plain.callTool(call())
  const [, again, ...ends] = await Promise.all([
    decide(id, 'approve'),
    repeated(),
    ...[one, other, one, other].map(({ get }) => over(get)),
  ])
  for (const end of ends)
    expect(end).toMatchObject({ result: { structuredContent: { deleted: 'row-1' } } })
  if (again.isError) expect(parseFault(again).payload.code).toMatch(/^approval_/)
  else
    expect(again.structuredContent).toMatchObject({
      deleted: 'row-1',
      approval_id: id,
      not_run_again: true,
    })
  expect(deleted).toEqual(['row-1'])
})

test('A5 the task of a rejected call ends with the rejection and its reason', async () => {
  const { rig, deleted, decide } = await setup()
  const { start, get } = await withTasks(rig)
  const id = await start()
  await decide(id, 'reject', { reason: 'still needed' })
  expect(await get(id)).toMatchObject({
    status: 'completed',
    result: {
      isError: true,
      content: [{ text: expect.stringContaining('anna denied crm_delete: still needed') }],
      structuredContent: { code: 'approval_denied', approval_id: id },
    },
  })
  expect(deleted).toEqual([])
})

test('RA12 a task waits for its request even if no client polls it', async () => {
  const { rig, decide } = await setup()
  const { start } = await withTasks(rig)
  const id = await start()
  await start()
  expect(rig.governance.approvals.isAwaited(id)).toBe(true)
  await decide(id, 'reject')
  await expect.poll(() => rig.governance.approvals.isAwaited(id)).toBe(false)
})

test('A5 cancelling the task withdraws the request', async () => {
  const { rig, deleted, waiting } = await setup()
  const { start, get, cancel } = await withTasks(rig)
  const id = await start()
  await cancel(id)
  expect(await get(id)).toMatchObject({ status: 'cancelled' })
  expect(await waiting()).toEqual([])
  const late = await rig.dispatch({
    tool: 'cowork_decide',
    arguments: { approval_ids: [id], decision: 'approve' },
    caller: personCaller(),
  })
  expect(late).toMatchObject({
    output: { outcomes: [{ error: { code: 'already_decided' } }] },
  })
  await cancel(id)
  expect(await get(id)).toMatchObject({ status: 'cancelled' })
  expect(deleted).toEqual([])
})

test('A5 SV15 tasks of other agents, and approvals of other kinds, are unknown', async () => {
  const { rig, theOne } = await setup()
  const { start } = await withTasks(rig)
  const id = await start()
  const stranger = await withTasks(rig, support.token)
  for (const ask of [stranger.get, stranger.update, stranger.cancel])
    await expect(ask(id)).rejects.toMatchObject({ code: -32602 })
  expect(await theOne()).toBe(id)
  const proposed = await stranger.client.callTool({
    name: 'cowork_propose',
    arguments: {
      domain: 'crm',
      action: 'rename',
      target: 'row-1',
      proposed_change: { name: 'x' },
      confidence: 0.5,
      reasoning: 'For the test',
    },
  })
  const { proposal_id: proposal } = z
    .looseObject({ proposal_id: z.string() })
    .parse(proposed.structuredContent)
  await expect(stranger.get(proposal)).rejects.toMatchObject({ code: -32602 })
})

test('A5 I5 with authentication off the task is found without an agent id', async () => {
  const { rig, deleted, decide } = await setup({ agents: [] })
  const { start, get } = await withTasks(rig, null)
  const id = await start({ name: 'crm_delete', arguments: { id: 'row-1', agent_id: 'main' } })
  expect(await get(id)).toMatchObject({ status: 'working' })
  await decide(id, 'approve')
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  expect(deleted).toEqual(['row-1'])
})

test('B3 RA2 a task runs the edit of a person and shows it in both halves', async () => {
  const { rig, deleted, decide } = await setup()
  const { start, get } = await withTasks(rig)
  const id = await start()
  await decide(id, 'approve', { change: { id: 'row-2' } })
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  const { result } = z
    .looseObject({ result: z.looseObject({ content: z.array(z.looseObject({})) }) })
    .parse(await get(id))
  expect(result).toMatchObject({
    structuredContent: {
      deleted: 'row-2',
      approved_change: { id: 'row-2' },
      edited_by: 'anna',
    },
  })
  expect(result.content[1]).toMatchObject({ text: expect.stringContaining('"id":"row-2"') })
  expect(deleted).toEqual(['row-2'])
})

test('Y8 A2 a standing permission given with the approval does not run the task twice', async () => {
  const { rig, deleted, decide } = await setup()
  const { start, get } = await withTasks(rig)
  const id = await start()
  await decide(id, 'approve', { allow: { for: 'always' } })
  for (let i = 0; i < 5; i++) await get(id)
  await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
  expect(deleted).toEqual(['row-1'])
})

test.each(['crm_delete', 'crm_forget'])(
  'A2 an error of %s ends its task and consumes the approval',
  async (name) => {
    const { rig, deleted, decide } = await setup()
    const { client, start, get } = await withTasks(rig)
    const id = await start({ name, arguments: { id: 'gone' } })
    await decide(id, 'approve')
    await expect.poll(() => get(id)).toMatchObject({ status: 'completed' })
    expect(await get(id)).toMatchObject({
      result: { isError: true, structuredContent: { code: 'not_found' } },
    })
    // A failed store change may be tried twice; both are rolled back.
    expect(new Set(deleted)).toEqual(new Set(['gone']))
    const again = await client.callTool({ name, arguments: { id: 'gone' } })
    expect(parseFault(again).payload).toMatchObject({ code: 'not_found', approval_id: id })
  },
)

test('A15 an approval that was not used within its hour runs nothing', async () => {
  let time = Date.now()
  const { rig, deleted, decide, theOne, waiting } = await setup({ now: () => time })
  const plain = await connect(rig)
  expect((await plain.callTool(call())).isError).toBe(true)
  const id = await theOne()
  await rig.runner.close()
  await decide(id, 'approve')
  time += 60 * 60 * 1000
  const { get } = await withTasks(rig)
  expect(await get(id)).toMatchObject({
    status: 'completed',
    result: { structuredContent: { code: 'approval_expired' } },
  })
  expect(deleted).toEqual([])
  expect(await waiting()).toEqual([])
})
