import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { ApprovalKind } from '#approvals'
import { actingTool } from '../../test/acting.ts'
import {
  anna,
  ben,
  check,
  decide,
  getOutcomes,
  propose,
  sales,
  fetchTrust,
} from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Said, Settings } from '../../test/governed.ts'

const waits = { fault: 'approval_required', status: 'pending' }

/** A kind of another module with its own field. */
const foreign: ApprovalKind = {
  kind: 'grant',
  fields: {
    grant: {
      schema: z.object({ choice: z.string() }).optional(),
      onlyFor: 'access requests',
      oneByOne: 'choose the access to grant',
    },
  },
  onDecided: () => Promise.resolve(),
}

async function upstream(settings: Settings = {}) {
  const { tool } = actingTool('crm', 'write')
  const system = await governed(settings, { tools: [tool], kinds: [foreign] })
  const write = (args: object) => system.call('crm_write', args)
  const ask = async (args: object) => String((await write(args))['approval_id'])
  const allow = async (id: string, globs: object, more: object = {}) => {
    const allowance = { for: 'always', arguments: globs, ...more }
    return getOutcomes(await decide(system, [id], { allow: allowance }))[0] ?? {}
  }
  const listed = async () =>
    (await system.call('cowork_list_permissions', {}, anna))['permissions'] as Said[]
  return { ...system, write, ask, allow, listed }
}

const ruled = (rule: object): Settings => ({
  policies: [{ id: 'p', rules: [{ field: 'fail', ...rule }] }],
  mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'p' }],
})

describe('pending calls', () => {
  test('Y8 T3 T11 a call released by a permission changes no score and is not evidence', async () => {
    const system = await upstream()
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push(await system.ask({ path: `/a/${n}` }))
    const [first = '', ...others] = ids
    const outcome = await system.allow(first, { path: '/a/*' })
    expect(outcome).toMatchObject({ status: 'approved', trust: { from: 0.3, to: 0.32 } })
    const also = outcome['also'] as { id: string; summary: string }[]
    expect(also.map(({ id }) => id).toSorted()).toEqual(others.toSorted())
    expect(also.map(({ summary }) => summary)).toContain('To write: /a/29')
    expect(await fetchTrust(system)).toMatchObject({
      trust_level: 0.32,
      approvals: 1,
      by_risk: { normal: { to_go: 24 } },
    })
    const [permission] = await system.listed()
    const entries = await system.entries(['approval.approved'])
    const cleared = entries.filter(({ ids: of }) => of?.approval !== first)
    expect(cleared).toHaveLength(29)
    for (const { data } of cleared) {
      expect(data).toMatchObject({ cleared_by: permission?.['id'], decided_by: 'anna' })
      expect(data).not.toHaveProperty('trust')
    }
    const figures = await system.call('cowork_quality_metrics', {}, anna)
    expect(figures).toMatchObject({ n_reviewed: 1 })
    expect(await system.write({ path: '/a/29' })).toEqual({ done: '/a/29' })
  })
})

describe('the scope', () => {
  test('A4 Y8 a permission of one person does not cover a call that needs several', async () => {
    const system = await upstream(
      ruled({ constraint: 'enum', values: [true], severity: 'warn', approvers: 2 }),
    )
    const quorum = { path: '/a/1', fail: false }
    const two = await system.ask(quorum)
    const plain = await system.ask({ path: '/a/1' })
    await system.allow(plain, { path: '/a/*', fail: '*' })
    expect(await system.write({ path: '/a/2' })).toEqual({ done: '/a/2' })
    expect(await system.write(quorum)).toMatchObject({ ...waits, approval_id: two })
    for (const by of [anna, ben]) await decide(system, [two], {}, by)
    expect(await system.write(quorum)).toEqual({ done: '/a/1' })
  })

  test('Y8 I6 it covers and releases no call above the risk of the approved one', async () => {
    const system = await upstream(ruled({ constraint: 'high_risk' }))
    const risky = { path: '/a/1', fail: false }
    const high = await system.ask(risky)
    await system.allow(await system.ask({ path: '/a/1' }), { path: '/a/*', fail: '*' })
    expect(await check(system, high)).toMatchObject({ status: 'pending' })
    expect(await system.write({ path: '/a/2' })).toEqual({ done: '/a/2' })
    expect(await system.write(risky)).toMatchObject({ ...waits, approval_id: high })
    await system.allow(high, { path: '/a/*', fail: 'false' })
    expect(await system.write({ path: '/a/3', fail: false })).toEqual({ done: '/a/3' })
  })
})

describe('arguments', () => {
  test('Y8 an argument absent from the approved call must be absent, unless it is named', async () => {
    const system = await upstream()
    await system.allow(await system.ask({ path: '/a/1' }), { path: '/a/*' })
    expect(await system.write({ path: '/a/2', text: 'any' })).toEqual({ done: '/a/2' })
    expect(await system.write({ path: '/a/2', fail: false })).toMatchObject(waits)
    await system.allow(await system.ask({ path: '/b/1' }), { path: '/b/*', fail: '*' })
    expect(await system.write({ path: '/b/2', fail: false })).toEqual({ done: '/b/2' })
    expect(await system.write({ path: '/b/2' })).toEqual({ done: '/b/2' })
  })

  test('Y8 with `rest: exact`, a * in an argument is literal', async () => {
    const system = await upstream()
    const id = await system.ask({ path: '/a/1', text: '* milk\n* bread' })
    await system.allow(id, { path: '/a/*' }, { rest: 'exact' })
    expect(await system.write({ path: '/a/2', text: '* milk\n* bread' })).toEqual({ done: '/a/2' })
    expect(await system.write({ path: '/a/2', text: 'x milk\n* bread' })).toMatchObject(waits)
    expect(await system.write({ path: '/a/2' })).toMatchObject(waits)
    expect(await system.listed()).toMatchObject([{ arguments: { path: '/a/*' }, exact: ['text'] }])
  })

  test('Y8 the list shows free and exact arguments, and null if all are exact', async () => {
    const system = await upstream()
    await system.allow(await system.ask({ path: '/a/1' }), { path: '/a/*' })
    await system.allow(await system.ask({ path: '/b' }), {}, { arguments: undefined })
    expect(await system.listed()).toMatchObject([
      { arguments: null, exact: ['path', 'text'] },
      { arguments: { path: '/a/*', text: '*' }, exact: [] },
    ])
  })

  test.each([
    ['globs', { globs: { path: '/a/*' } }, { path: '/a/2', text: 'any', fail: false }],
    ['exact', { exact: '{"path":"/a/1","text":"nothing"}' }, { path: '/a/1' }],
  ])('Y8 a permission stored by %s keeps its meaning', async (_, pattern, args) => {
    const system = await upstream()
    const id = await system.ask({ path: '/a/1' })
    await system.allow(id, { path: '/a/*' })
    await system.write({ path: '/a/1' })
    await system.db.transact(async (tx) => {
      const given = JSON.stringify(pattern).replaceAll("'", "''")
      await tx.run({ sql: `UPDATE permission SET arguments = '${given}'`, parameters: [] })
    })
    expect(await system.write(args)).toEqual({ done: args.path })
    expect(await system.write({ path: '/b/1' })).toMatchObject(waits)
  })
})

describe('invalid fields', () => {
  test.each([
    ['another path', { path: '/zzz*' }],
    ['a name that the call does not have', { pth: '/a*' }],
    ['a way out of its folder', { path: '/a/*' }, '/a/../b'],
  ])(
    'Y8 a pattern that does not match its own call is refused: %s',
    async (_, globs, path = '/a') => {
      const system = await upstream()
      const id = await system.ask({ path })
      expect(await system.allow(id, globs)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_input' },
      })
      expect(await check(system, id)).toMatchObject({ status: 'pending' })
      expect(await system.listed()).toEqual([])
    },
  )

  test.each([
    ['proposal', { allow: { for: 'always' } }],
    ['proposal', { policy_id: 'p' }],
    ['proposal', { grant: { choice: 'folder' } }],
    ['call', { policy_id: 'p' }],
    ['call', { grant: { choice: 'folder' } }],
  ])(
    'Y8 Y4 a field that does not apply to a %s is refused, not ignored: %j',
    async (kind, more) => {
      const system = await upstream()
      const id =
        kind === 'call'
          ? await system.ask({ path: '/a' })
          : String((await propose(system, {}, sales))['proposal_id'])
      expect(getOutcomes(await decide(system, [id], more))).toMatchObject([
        {
          status: 'error',
          error: {
            code: 'invalid_input',
            message: `\`${Object.keys(more)[0]}\` does not apply to a ${kind}.`,
            hint: '`allow` is for calls, `policy_id` for work in a new domain, `grant` for access requests.',
          },
        },
      ])
      expect(await check(system, id)).toMatchObject({ status: 'pending' })
    },
  )

  test('B2 the hint of a bulk decision names the fields for single decisions', async () => {
    const system = await upstream()
    const ids = [await system.ask({ path: '/a' }), await system.ask({ path: '/b' })]
    expect(await decide(system, ids, { allow: { for: 'always' } })).toMatchObject({
      fault: 'invalid_input',
      hint: 'Edit, allow for longer, choose a policy, acknowledge one or choose the access to grant one by one.',
    })
  })
})
