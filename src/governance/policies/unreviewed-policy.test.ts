import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { actingTool } from '../../../test/acting.ts'
import { anna, sales } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Governed, Said } from '../../../test/governed.ts'

const body = (rule: object, more: object = {}) => ({
  policies: [{ id: 'p', rules: [rule], ...more }],
  mappings: [{ agent_id: '*', domain: 'fi*', policy_id: 'p' }],
})
const onPath = body({ field: 'path', constraint: 'regex', pattern: '^ok' })
const none = { policies: [], mappings: [] }

const simulate = (on: Governed, given: object): Promise<Said> =>
  on.call('cowork_simulate_policy', { body: given, days: 7 }, anna)

describe('calls without recorded arguments', () => {
  const reading = async (settings: object = {}) => {
    const { tool } = actingTool('files', 'read')
    const system = await governed({ ...settings }, { tools: [tool] })
    for (const path of ['secret', 'ok', 'secret']) await system.call('files_read', { path })
    const ended = () => system.entries(['call.done', 'call.refused'])
    await expect.poll(async () => (await ended()).length).toBe(3)
    return system
  }

  test('Y6 a read that a value rule could have blocked is skipped and counted', async () => {
    const system = await reading()
    expect(await simulate(system, onPath)).toMatchObject({
      summary: 'nothing would change, 3 could not be replayed',
      replayed: 0,
      skipped: 3,
    })
  })

  test('Y6 a read that no rule can block has the same outcome', async () => {
    const system = await reading()
    for (const given of [
      none,
      body({ field: 'path', constraint: 'readonly' }),
      body({ field: 'path', constraint: 'high_risk' }),
      { ...onPath, policies: [{ ...onPath.policies[0], mode: 'shadow' }] },
    ])
      expect(await simulate(system, given)).toMatchObject({
        summary: 'nothing would change',
        replayed: 3,
        skipped: 0,
      })
  })

  test('Y6 a read with recorded arguments counts once', async () => {
    const system = await reading({
      ...onPath,
      policies: [{ ...onPath.policies[0], mode: 'shadow' }],
    })
    expect(await simulate(system, onPath)).toMatchObject({
      summary: '2 act→blocked, 1 could not be replayed',
      replayed: 2,
      skipped: 1,
    })
  })

  test('Y6 a refused call is counted', async () => {
    const system = await reading(onPath)
    expect(await simulate(system, none)).toMatchObject({
      summary: 'nothing would change, 2 could not be replayed',
      replayed: 1,
      skipped: 2,
    })
  })

  test('Y6 a refused call with recorded arguments is replayed', async () => {
    const system = await governed()
    const refused = (effect: string, path: string) =>
      system.ledger.transact(async (tx) =>
        tx.append({
          type: 'call.refused',
          outcome: 'policy_blocked',
          actor: { kind: 'agent', id: 'sales' },
          domain: 'files',
          ids: { call: `${effect} ${path}` },
          data: { tool: 'any', effect, message: 'no' },
          payload: { path },
        }),
      )
    for (const effect of ['read', 'write']) await refused(effect, 'secret')
    await refused('write', 'ok')
    // The ledger does not say whether trust had allowed the write.
    expect(await simulate(system, onPath)).toMatchObject({
      summary: 'nothing would change, 1 could not be replayed',
      replayed: 2,
      skipped: 1,
    })
    expect(await simulate(system, none)).toMatchObject({
      summary: '1 blocked→act, 2 could not be replayed',
      table: [{ examples: [{ action: 'any', kind: 'call' }] }],
    })
  })
})

describe('arguments recorded as a digest', () => {
  const digest = { bytes: 3, sha256: 'ab'.repeat(32) }
  const write = defineTool({
    name: 'write_file',
    title: 'Write',
    description: 'For tests',
    toolset: 'files',
    effect: 'write',
    by: 'agent',
    input: z.object({
      path: z.string(),
      content: z.string().optional(),
      edits: z.array(z.object({ old: z.string(), new: z.string() })).optional(),
    }),
    output: z.object({}),
    describeTarget: ({ path }) => ({ domain: 'files', target: path }),
    toPayload: ({ path, content, edits }) => ({
      path,
      ...(content !== undefined && { content: digest }),
      ...(edits && { edits: edits.map(() => ({ old: digest, new: digest })) }),
    }),
    run: async () => ({ output: {} }),
  })
  const written = async () => {
    const system = await governed({}, { tools: [write] })
    await system.call('write_file', { path: 'ok', content: 'abc' }, sales)
    await system.call('write_file', { path: 'ok', edits: [{ old: 'a', new: 'b' }] }, sales)
    return system
  }

  test.each([
    ['content', 1],
    ['edits', 1],
    ['new', 1],
    ['edits.old', 1],
    ['*', 2],
    // The fields of the digest are not arguments of the call.
    ['sha256', 0],
    ['content.bytes', 0],
  ])(
    'Y6 a rule about the value of %s leaves %d calls without an outcome',
    async (field, skipped) => {
      const rule = { field, constraint: 'regex', pattern: '^[a-z]*$' }
      const result = await simulate(await written(), body(rule))
      expect(result).toMatchObject({ skipped, replayed: 2 - skipped, table: [] })
    },
  )

  test('Y6 a rule that does not read the value is replayed', async () => {
    const system = await written()
    expect(await simulate(system, onPath)).toMatchObject({ replayed: 2, skipped: 0, table: [] })
    expect(
      await simulate(system, body({ field: 'content', constraint: 'readonly' })),
    ).toMatchObject({ summary: '1 act→blocked', skipped: 0 })
  })
})
