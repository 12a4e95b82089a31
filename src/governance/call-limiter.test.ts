import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { anna, propose, sales, support } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed, Settings } from '../../test/governed.ts'
import { acting } from '../../test/tools.ts'

const minute = 60_000

const tool = (name: string, effect: Tool['effect'], by: Tool['by'] = 'anyone') =>
  defineTool({
    name,
    title: name,
    description: 'For tests',
    toolset: 'files',
    by,
    input: z.object({ path: z.string().default('a'), owner: z.string().optional() }),
    output: z.object({}),
    ...acting(effect, async () => ({})),
  })

const paced = (settings: Settings) =>
  governed(settings, { tools: [tool('read_file', 'read'), tool('write_file', 'write')] })

/** `{}` is a call that ran. */
async function calls(system: Governed, count: number, name = 'read_file', args = {}, by = sales) {
  const result = []
  for (let at = 0; at < count; at++) result.push((await system.call(name, args, by))['fault'])
  return result
}

describe('a budget', () => {
  test('V3 each agent has an hourly budget per tool, and people have no limit', async () => {
    const system = await paced({ 'authority.tool_budgets': { read_file: 2 } })
    expect(await calls(system, 3)).toEqual([undefined, undefined, 'TOOL_BUDGET_EXCEEDED'])
    expect(await calls(system, 1, 'read_file', {}, support)).toEqual([undefined])
    expect(await calls(system, 3, 'write_file')).toEqual([undefined, undefined, undefined])
    expect(await calls(system, 3, 'read_file', {}, anna)).toEqual([undefined, undefined, undefined])
    expect(await system.call('read_file')).toMatchObject({
      message: 'The budget of read_file is used up: 2 calls per hour.',
      tool_budget: 2,
      budget_remaining: 0,
      retry_after_seconds: expect.any(Number),
    })
  })

  test('V3 the window is rolling: a call leaves it after an hour', async () => {
    const system = await paced({ 'authority.tool_budgets': { read_file: 2 } })
    await calls(system, 1)
    system.move(40 * minute)
    await calls(system, 1)
    const refused = await system.call('read_file')
    const seconds = Number(refused['retry_after_seconds'])
    expect(seconds).toBeGreaterThan(19 * 60)
    expect(seconds).toBeLessThanOrEqual(20 * 60)
    system.move(seconds * 1000)
    expect(await calls(system, 2)).toEqual([undefined, 'TOOL_BUDGET_EXCEEDED'])
  })

  test('V3 a budget of 0 disables the tool with its own message', async () => {
    const system = await paced({ 'authority.tool_budgets': { read_file: 0 } })
    const refused = await system.call('read_file')
    expect(refused).toMatchObject({ fault: 'TOOL_BUDGET_EXCEEDED', tool_budget: 0 })
    expect(refused).not.toHaveProperty('retry_after_seconds')
  })

  test('V3 Y3 a blocked call does not use the budget', async () => {
    const system = await paced({
      'authority.tool_budgets': { read_file: 1 },
      policies: [{ id: 'p', rules: [{ field: 'path', constraint: 'enum', values: ['a'] }] }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
    })
    expect(await calls(system, 2, 'read_file', { path: 'b' })).toEqual([
      'policy_blocked',
      'policy_blocked',
    ])
    expect(await calls(system, 2)).toEqual([undefined, 'TOOL_BUDGET_EXCEEDED'])
  })
})

describe('a circuit breaker', () => {
  const open = 'CIRCUIT_OPEN'

  test('V3 a repeated call is refused, another one runs', async () => {
    const system = await paced({ 'authority.repeat_limit': 3 })
    expect(await calls(system, 5)).toEqual([undefined, undefined, undefined, open, open])
    expect(await system.call('read_file')).toMatchObject({
      message: 'read_file was called 3 times in a row with the same arguments.',
      circuit_open: true,
      repeats: 3,
      retry_after_seconds: expect.any(Number),
      hint: expect.stringContaining('something else'),
    })
    // Other arguments are another call, which interrupts the series of the first.
    expect(await calls(system, 1, 'read_file', { path: 'b' })).toEqual([undefined])
    expect(await calls(system, 4)).toEqual([undefined, undefined, undefined, open])
    expect(await calls(system, 1, 'read_file', {}, support)).toEqual([undefined])
  })

  test('V3 the call is allowed again after ten minutes', async () => {
    const system = await paced({ 'authority.repeat_limit': 2 })
    expect(await calls(system, 3)).toEqual([undefined, undefined, open])
    system.move(9 * minute)
    expect(await calls(system, 1)).toEqual([open])
    system.move(minute)
    expect(await calls(system, 3)).toEqual([undefined, undefined, open])
  })

  test('V3 calls far apart do not form a series', async () => {
    const system = await paced({ 'authority.repeat_limit': 2 })
    for (let at = 0; at < 5; at++) {
      expect(await calls(system, 1)).toEqual([undefined])
      system.move(10 * minute)
    }
  })

  test('V3 refused calls count, and polling for a decision does not', async () => {
    const system = await paced({
      'authority.repeat_limit': 2,
      policies: [{ id: 'p', rules: [{ field: 'path', constraint: 'enum', values: ['a'] }] }],
      mappings: [{ agent_id: '*', domain: '*', policy_id: 'p' }],
    })
    expect(await calls(system, 3, 'read_file', { path: 'b' })).toEqual([
      'policy_blocked',
      'policy_blocked',
      open,
    ])
    const asked = { proposal_id: '7' }
    expect(new Set(await calls(system, 5, 'cowork_check_approval', asked))).toEqual(
      new Set(['not_found']),
    )
    expect(await calls(system, 1, 'read_file', { path: 'b' })).toEqual(['policy_blocked'])
  })

  test('V3 a repeated proposal is refused too', async () => {
    const system = await paced({ 'authority.repeat_limit': 2 })
    const faults = []
    for (let at = 0; at < 3; at++) faults.push((await propose(system))['fault'])
    expect(faults).toEqual([undefined, undefined, open])
  })

  test('V3 people can repeat calls', async () => {
    const system = await paced({ 'authority.repeat_limit': 2 })
    expect(await calls(system, 4, 'read_file', {}, anna)).toEqual(Array(4).fill(undefined))
  })
})

describe('a cap over all domains', () => {
  test('V3 the cap limits proposals of an agent over all domains', async () => {
    const system = await paced({ 'authority.agent_volume_cap': 3 })
    for (const domain of ['crm', 'erp', 'mail'])
      expect(await propose(system, { domain })).toMatchObject({ status: 'pending' })
    const refused = await propose(system, { domain: 'fresh' })
    expect(refused).toMatchObject({
      fault: 'VOLUME_CAP_EXCEEDED',
      message: 'VolumeCapError: sales has made 3 proposals within an hour.',
      hint: expect.stringContaining('authority.agent_volume_cap'),
      volume_cap: 3,
      volume_remaining: 0,
      retry_after_seconds: expect.any(Number),
    })
    expect(await propose(system, {}, support)).toMatchObject({ status: 'pending' })
    system.move(Number(refused['retry_after_seconds']) * 1000 + 1000)
    expect(await propose(system, { domain: 'fresh' })).toMatchObject({ status: 'pending' })
  })

  test('V3 it holds without a cap per domain', async () => {
    const system = await paced({ 'authority.agent_volume_cap': 1, 'authority.volume_cap': 0 })
    expect(await propose(system)).toMatchObject({ volume_cap: 0, volume_remaining: null })
    expect(await propose(system)).toMatchObject({ fault: 'VOLUME_CAP_EXCEEDED' })
  })

  test('V3 pending calls count', async () => {
    const system = await governed(
      { 'authority.agent_volume_cap': 1 },
      { tools: [tool('drop_file', 'destructive')] },
    )
    expect(await system.call('drop_file')).toMatchObject({ fault: 'approval_required' })
    expect(await system.call('drop_file', { path: 'b' })).toMatchObject({
      fault: 'VOLUME_CAP_EXCEEDED',
    })
    expect(await propose(system)).toMatchObject({ fault: 'VOLUME_CAP_EXCEEDED' })
  })

  test('V3 a refused proposal changes neither the idle clock nor the count', async () => {
    const system = await paced({ 'authority.agent_volume_cap': 1 })
    await propose(system)
    const before = await system.rows('trust')
    await propose(system)
    expect(await system.rows('trust')).toEqual(before)
    expect(await system.rows('approval')).toHaveLength(1)
  })
})
