import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { anna, check, decide } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed } from '../../test/governed.ts'

const dropFile = defineTool({
  name: 'drop_file',
  title: 'Drop',
  description: 'For tests',
  toolset: 'files',
  effect: 'destructive',
  by: 'anyone',
  input: z.object({ path: z.string() }),
  output: z.object({}),
  run: async () => ({ output: {} }),
})

const limited = (budget: number) =>
  governed({ 'authority.tool_budgets': { drop_file: budget } }, { tools: [dropFile] })

const drop = async (system: Governed, path: string) =>
  (await system.call('drop_file', { path }))['fault']

/** Requests the call and has it approved. */
async function allowed(system: Governed, path: string): Promise<string> {
  const result = await system.call('drop_file', { path })
  expect(result).toMatchObject({ fault: 'approval_required' })
  const id = String(result['approval_id'])
  await decide(system, [id])
  return id
}

const spentAll = 'TOOL_BUDGET_EXCEEDED'

test('V3 A2 requests are free: an approved call runs and counts', async () => {
  const system = await limited(1)
  await allowed(system, 'a')
  expect(await drop(system, 'a')).toBeUndefined()
  expect(await drop(system, 'b')).toBe(spentAll)
  // Reading the result does not count.
  expect(await drop(system, 'a')).toBeUndefined()
  expect(await system.rows('approval')).toHaveLength(1)
})

test('V3 repeated resume attempts count as one call', async () => {
  const system = await limited(2)
  await allowed(system, 'a')
  const waiting = await system.call('drop_file', { path: 'b' })
  for (let at = 0; at < 5; at++) expect(await drop(system, 'b')).toBe('approval_required')
  await decide(system, [String(waiting['approval_id'])])
  expect([await drop(system, 'a'), await drop(system, 'b')]).toEqual([undefined, undefined])
  expect(await drop(system, 'c')).toBe(spentAll)
})

test('V3 A2 of concurrent approved calls over the budget, the budget runs and the others stay approved', async () => {
  const system = await limited(2)
  const paths = ['a', 'b', 'c', 'd']
  const asked = await Promise.all(paths.map((path) => system.call('drop_file', { path })))
  const ids = asked.map((one) => String(one['approval_id']))
  await decide(system, ids)
  const replies = await Promise.all(paths.map((path) => drop(system, path)))
  expect(replies.filter((fault) => fault === undefined)).toHaveLength(2)
  expect(replies.filter((fault) => fault === 'approval_running')).toHaveLength(2)
  const kept = await Promise.all(ids.map((id) => system.governance.approvals.get(id)))
  const isKept = kept.map((it) => it?.status === 'approved')
  expect(isKept).toEqual(replies.map((fault) => fault !== undefined))
})

test('V3 A2 a resumed call counts once', async () => {
  const system = await limited(2)
  await allowed(system, 'a')
  expect(await drop(system, 'a')).toBeUndefined()
  await allowed(system, 'b')
  expect(await drop(system, 'b')).toBeUndefined()
  expect(await drop(system, 'c')).toBe(spentAll)
})

test('V3 A15 a call over the budget is retried when the budget allows it, not before', async () => {
  const minute = 60_000
  const system = await limited(1)
  const { approval_id: id } = await system.call('drop_file', { path: 'b' })
  await allowed(system, 'a')
  expect(await drop(system, 'a')).toBeUndefined()
  system.move(30 * minute)
  await decide(system, [String(id)])
  const refused = async () =>
    (await system.entries(['call.refused', 'call.failed'])).filter(
      ({ outcome }) => outcome === spentAll,
    )
  await expect.poll(refused).toHaveLength(1)
  /** A commit makes the runner poll. */
  const look = () => system.call('cowork_halt', { scope: 'domain:none', force: true }, anna)
  system.move(10 * minute)
  await look()
  system.move(21 * minute)
  await look()
  expect(await check(system, id, { wait_seconds: 3 })).toMatchObject({ status: 'consumed' })
  expect(await refused()).toHaveLength(1)
})
