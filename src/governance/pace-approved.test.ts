import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { decide, sales } from '../../test/acts.ts'
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
  run: async () => ({}),
})

const limited = (budget: number) =>
  governed({ 'authority.tool_budgets': { drop_file: budget } }, { tools: [dropFile] })

const drop = async (system: Governed, path: string) =>
  (await system.call('drop_file', { path }))['fault']

/** Asks for it and is allowed to. */
async function allowed(system: Governed, path: string): Promise<string> {
  const said = await system.call('drop_file', { path })
  expect(said).toMatchObject({ fault: 'approval_required' })
  const id = String(said['approval_id'])
  await decide(system, [id])
  return id
}

const spentAll = 'TOOL_BUDGET_EXCEEDED'

test('V3 A2 asking costs nothing: what a person approves runs, and that is what is counted', async () => {
  const system = await limited(1)
  await allowed(system, 'a')
  expect(await drop(system, 'a')).toBeUndefined()
  expect(await drop(system, 'b')).toBe(spentAll)
  expect(await system.rows('approval')).toHaveLength(1)
})

test('V3 however often it is asked whether it may go on, it is one call', async () => {
  const system = await limited(2)
  await allowed(system, 'a')
  const waiting = await system.call('drop_file', { path: 'b' })
  for (let at = 0; at < 5; at++) expect(await drop(system, 'b')).toBe('approval_required')
  await decide(system, [String(waiting['approval_id'])])
  expect([await drop(system, 'a'), await drop(system, 'b')]).toEqual([undefined, undefined])
  expect(await drop(system, 'c')).toBe(spentAll)
})

test('V3 A2 of more than the budget that are approved and go on at once the budget runs, and the others stay approved', async () => {
  const system = await limited(2)
  const paths = ['a', 'b', 'c', 'd']
  const ids = []
  for (const path of paths) ids.push(await allowed(system, path))
  const said = await Promise.all(paths.map((path) => drop(system, path)))
  expect(said.filter((fault) => fault === undefined)).toHaveLength(2)
  expect(said.filter((fault) => fault === spentAll)).toHaveLength(2)
  const kept = await Promise.all(ids.map((id) => system.governance.approvals.get(id)))
  const isKept = kept.map((it) => it?.status === 'approved')
  expect(isKept).toEqual(said.map((fault) => fault === spentAll))
})

test('V3 A2 a call that waited and goes on is counted once', async () => {
  const system = await limited(2)
  const id = await allowed(system, 'a')
  expect(await system.resume('drop_file', { path: 'a' }, sales, id)).toMatchObject({
    status: 'done',
  })
  await allowed(system, 'b')
  expect(await drop(system, 'b')).toBeUndefined()
  expect(await drop(system, 'c')).toBe(spentAll)
})
