import { describe, expect, test } from 'vitest'
import { actingTool } from '../../test/acting.ts'
import { anna, check, decide, getOutcomes, proposed } from '../../test/acts.ts'
import { governed } from '../../test/governed.ts'
import type { Governed, Said } from '../../test/governed.ts'

const rules = [
  { id: 'finance', field: 'commission', constraint: 'readonly', reason: 'Finance only' },
  { field: 'amount', constraint: 'value_range', min: 0, max: 100 },
  { field: 'discount', constraint: 'high_risk', approvers: 2 },
  { field: 'text', constraint: 'enum', values: ['nothing', 'x', 'risky'] },
  { field: 'fail', constraint: 'enum', values: [false], severity: 'warn', approvers: 2 },
]
const settings = {
  policies: [{ id: 'deals', rules }],
  mappings: [{ agent_id: 'sales', domain: 'crm', policy_id: 'deals' }],
}

const errorOf = (result: Said) => getOutcomes(result)[0]?.['error']
const found = (to: Governed, id: string) => to.governance.approvals.get(id)
const save = (to: Governed, body: object) =>
  to.call('cowork_save_policies', { body, confirm: true }, anna)

describe('a proposal that a person edits', () => {
  test.each([
    [{ commission: 5 }, 'policy_blocked', /finance of deals.*commission: Finance only/],
    [{ deal: { amount: 1e9 } }, 'policy_blocked', /rule_2 of deals.*amount: Must be a number/],
    [{ discount: 90 }, 'quorum_edit', /deals requires 2 approvals/],
  ])(
    'B3 Y3 A4 an edit is validated like a new proposal: %j is %s',
    async (change, code, message) => {
      const system = await governed(settings)
      const id = await proposed(system)
      for (const more of [{}, { hold: true }])
        expect(errorOf(await decide(system, [id], { change, ...more }))).toMatchObject({
          code,
          message: expect.stringMatching(message),
          hint: expect.stringContaining('eject the request'),
        })
      const { status, deferred } = (await found(system, id)) ?? {}
      expect([status, deferred]).toEqual(['pending', undefined])
      expect(await system.entries(['approval.approved'])).toEqual([])
    },
  )

  test('B3 the active rules and approved mappings apply', async () => {
    const system = await governed(settings)
    const id = await proposed(system)
    const stricter = [{ field: 'note', constraint: 'regex', pattern: '^ok' }]
    await save(system, { ...settings, policies: [{ id: 'deals', rules: stricter }] })
    const change = { note: 'bad' }
    expect(errorOf(await decide(system, [id], { change }))).toMatchObject({
      code: 'policy_blocked',
    })
    const elsewhere = [{ agent_id: 'sales', domain: 'hr', policy_id: 'deals' }]
    await save(system, { ...settings, mappings: elsewhere })
    expect(errorOf(await decide(system, [id], { change }))).toMatchObject({
      code: 'policy_blocked',
      message: 'No policy covers sales in crm now.',
    })
    const ask = await system.call('cowork_propose', {
      domain: 'crm',
      action: 'update_deal',
      target: 'deal-1',
      proposed_change: { note: 'x' },
      confidence: 1,
      reasoning: 'why not',
    })
    await decide(system, [String(ask['approval_id'])], { policy_id: 'deals' })
    expect(getOutcomes(await decide(system, [id], { change }))).toMatchObject([
      { status: 'approved' },
    ])
  })

  test('B3 T13 the edit determines the risk, and the ledger records it', async () => {
    const system = await governed()
    const [up, down, same] = [
      await proposed(system),
      await proposed(system, { proposed_change: { deal_stage: 'won' } }),
      await proposed(system),
    ]
    await decide(system, [up], { change: { permissions: 'admin' } })
    await decide(system, [down], { change: { note: 'later' } })
    await decide(system, [same], { change: { note: 'now' } })
    expect((await found(system, up))?.risk).toBe('high')
    expect((await found(system, down))?.risk).toBe('normal')
    const entries = await system.entries(['approval.approved'])
    expect(entries.map(({ data }) => data?.['risk'])).toEqual(['high', 'normal', undefined])
    expect(await check(system, up)).toMatchObject({ approved_change: { permissions: 'admin' } })
  })

  test('B3 C2 an edit that becomes high risk is deferred', async () => {
    const system = await governed()
    const [plain, risky] = [await proposed(system), await proposed(system)]
    const hold = (id: string, change: object) => decide(system, [id], { change, hold: true })
    expect(getOutcomes(await hold(plain, { note: 'x' }))).toMatchObject([{ status: 'approved' }])
    expect(getOutcomes(await hold(risky, { owner: 'x' }))).toMatchObject([{ status: 'held' }])
  })
})

describe('a call that a person edits', () => {
  async function upstream() {
    const { tool, runs } = actingTool('crm', 'write')
    const isRisky = ({ text }: Record<string, unknown>) => text === 'risky' && 'it is'
    const system = await governed(settings, { tools: [{ ...tool, isRisky }] })
    const write = (more: object = {}) => system.call('crm_write', { path: '/a', ...more })
    const asked = async () => String((await write())['approval_id'])
    return { ...system, runs, write, asked }
  }

  test.each([
    [{ text: 'other' }, 'policy_blocked', /text: Must be one of/],
    [{ fail: true }, 'quorum_edit', /deals requires 2 approvals/],
  ])('B3 Y7 A4 an edit is validated like a new call: %j is %s', async (more, code, message) => {
    const system = await upstream()
    const id = await system.asked()
    const reply = await decide(system, [id], { change: { path: '/a', ...more } })
    expect(errorOf(reply)).toMatchObject({ code, message: expect.stringMatching(message) })
    expect((await found(system, id))?.status).toBe('pending')
  })

  test('B3 T13 the tool determines the risk of the edited arguments', async () => {
    const system = await upstream()
    const id = await system.asked()
    expect((await found(system, id))?.risk).toBe('normal')
    await decide(system, [id], { change: { path: '/a', text: 'risky' } })
    expect((await found(system, id))?.risk).toBe('high')
    expect(await system.write({ text: 'risky' })).toEqual({ done: '/a' })
  })
})

describe('a quorum of two', () => {
  const two = { ...settings, policies: [{ id: 'deals', rules: [pathRule()] }] }
  function pathRule() {
    return { field: 'path', constraint: 'high_risk', approvers: 2 }
  }
  const ben = { ...anna, id: 'ben' }

  test('A4 Y8 neither person can allow the call for longer', async () => {
    const { tool } = actingTool('crm', 'write')
    const system = await governed(two, { tools: [tool] })
    const id = String((await system.call('crm_write', { path: '/a' }))['approval_id'])
    const longer = { allow: { for: 'always' } }
    const refused = { code: 'quorum_allow', hint: expect.stringContaining('once') }
    expect(errorOf(await decide(system, [id], longer))).toMatchObject(refused)
    expect(getOutcomes(await decide(system, [id]))).toMatchObject([{ status: 'voted' }])
    expect(errorOf(await decide(system, [id], longer, ben))).toMatchObject(refused)
    const once = { allow: { for: 'once' } }
    expect(getOutcomes(await decide(system, [id], once, ben))).toMatchObject([
      { status: 'approved' },
    ])
    expect(await system.rows('permission')).toEqual([])
  })

  test('A4 Y6 an approval by one person from before the rule does not run: two must approve', async () => {
    const { tool, runs } = actingTool('crm', 'write')
    const system = await governed(settings, { tools: [tool], runs: false })
    const write = () => system.call('crm_write', { path: '/a' })
    const id = String((await write())['approval_id'])
    await decide(system, [id])
    await save(system, two)
    const anew = await write()
    expect(anew).toMatchObject({ fault: 'approval_required', status: 'pending' })
    expect(anew['approval_id']).not.toBe(id)
    expect(await found(system, String(anew['approval_id']))).toMatchObject({ requiredApprovals: 2 })
    expect((await found(system, id))?.status).toBe('withdrawn')
    expect(runs).toEqual([])
  })

  test('A4 I6 a removed person and a viewer have no vote; a restored person has one', async () => {
    const system = await governed(two)
    const { db, identity } = system
    const by = { id: 'call-1', caller: { ...anna, id: 'owner' } }
    const { people } = identity
    async function join(name: string) {
      const given = { name, role: 'reviewer' } as const
      const { link } = await db.transact((tx) => people.invite(tx, given, by))
      const code = link.split('=').at(-1) ?? ''
      const { token } = await people.signIn({ code, address: 'here', userAgent: 'test' })
      return identity.identify({ door: 'api', address: 'here', bearer: token })
    }
    const votes = (id: string) => system.governance.approvals.votes(id)
    const id = await proposed(system, { proposed_change: { path: '/a' } })
    const [ann, bob] = [await join('Ann'), await join('Bob')]
    for (const person of [ann, bob]) {
      const reply = await decide(system, [id], {}, person)
      expect(getOutcomes(reply)).toMatchObject([{ status: 'voted' }])
      if (person === ann) await db.transact((tx) => people.remove(tx, ann.id, by))
    }
    await db.transact((tx) => people.setRole(tx, { id: bob.id, role: 'viewer' }, by))
    expect(await votes(id)).toEqual([])
    const again = await join('Ann')
    expect(again.id).toBe('ann-2')
    expect(getOutcomes(await decide(system, [id], {}, again))).toMatchObject([{ status: 'voted' }])
    expect(getOutcomes(await decide(system, [id], {}, ben))).toMatchObject([{ status: 'approved' }])
  })
})

describe('the effect of a decision', () => {
  test('I6 the risk of an edit or a standing permission is unknown beforehand', async () => {
    const { catalogue } = await governed()
    const approves = (more: object, decision = 'approve') =>
      catalogue.find('cowork_decide')?.approves?.({ approval_ids: ['a'], decision, ...more })
    for (const known of [{}, { reason: 'x' }, { allow: { for: 'once' } }])
      expect(approves(known)).toEqual(['a'])
    for (const more of [{ change: {} }, { change: null }, { allow: { for: 'uses', uses: 1 } }]) {
      expect(approves(more)).toBe('unknown')
      expect(approves(more, 'reject')).toEqual([])
    }
  })

  test('Y8 only calls can have a standing permission', async () => {
    const system = await governed()
    const id = await proposed(system)
    const reply = await decide(system, [id], { allow: { for: 'always' } })
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_input' })
    expect((await found(system, id))?.status).toBe('pending')
  })
})
