import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { anna, ben, decide, support, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'
import type { Settings } from '../../../test/governed.ts'
import { acting } from '../../../test/tools.ts'

/** Accepts any arguments and records the calls. */
function toolbox() {
  const done: string[] = []
  const tool = (toolset: string, effect: Tool['effect'], name = `${toolset}_${effect}`) =>
    defineTool({
      name,
      title: name,
      description: 'For tests',
      toolset,
      by: 'agent',
      input: z.looseObject({ path: z.string().optional() }),
      output: z.object({}),
      // The arguments of a tool must not choose the rules that apply.
      describeTarget: ({ path }) => ({
        domain: toolset === 'crm' ? 'crm' : 'free',
        target: path ?? '',
      }),
      ...acting(effect, async () => {
        done.push(name)
        return {}
      }),
    })
  const effects = ['read', 'write', 'destructive'] as const
  const tools = ['files', 'work', 'jobs', 'crm'].flatMap((toolset) =>
    effects.map((effect) => tool(toolset, effect)),
  )
  return { tools: [...tools, tool('cowork', 'write', 'own_write')], done }
}

const governedBy = async (rules: object[], domain: string, more: Settings = {}) => {
  const { tools, done } = toolbox()
  const system = await governed(
    {
      policies: [{ id: 'p', description: 'For calls', rules, ...(more['policy'] as object) }],
      mappings: [{ agent_id: 'sales', domain, policy_id: 'p' }],
      ...(more['settings'] as object),
    },
    { tools },
  )
  return { ...system, done }
}

const notSecret = { field: 'path', constraint: 'regex', pattern: '^[^.]' }

describe('a hard stop', () => {
  test.each(['files', 'work', 'jobs', 'crm'])(
    'Y7 %s: the fields are the arguments, and a hard stop refuses the call',
    async (domain) => {
      const system = await governedBy([notSecret], domain)
      await trusted(system, 0.9, 'sales', domain)
      for (const effect of ['read', 'write'])
        expect(await system.call(`${domain}_${effect}`, { path: '.env' }), effect).toMatchObject({
          fault: 'policy_blocked',
          message: 'BLOCKED by p: path: Must match ^[^.]',
          blocked: true,
          policy_id: 'p',
          violations: [{ rule_id: 'rule_1', field: 'path', severity: 'hard_stop' }],
        })
      expect(system.done).toEqual([])
      await expect
        .poll(async () => (await system.entries(['call.refused'])).map(({ outcome }) => outcome))
        .toEqual(['policy_blocked', 'policy_blocked'])
      expect(await system.call(`${domain}_write`, { path: 'notes.md' })).toEqual({})
      expect(system.done).toEqual([`${domain}_write`])
      expect(await system.rows('approval')).toEqual([])
    },
  )

  test('Y7 it applies to mapped agents, not to others and not to tools of cowork', async () => {
    const system = await governedBy([notSecret], '*')
    expect(await system.call('files_write', { path: '.env' }, support)).toEqual({})
    expect(await system.call('own_write', { path: '.env' })).toEqual({})
    expect(await system.call('files_write', { path: '.env' })).toMatchObject({
      fault: 'policy_blocked',
    })
  })

  test('Y7 Y8 a standing permission does not override a rule', async () => {
    const { tools } = toolbox()
    const system = await governed({}, { tools })
    const asked = await system.call('crm_write', { path: '.env' })
    await decide(system, [String(asked['approval_id'])], { allow: { for: 'always' } })
    expect(await system.call('crm_write', { path: '.env' })).toEqual({})
    const body = {
      policies: [{ id: 'p', rules: [notSecret] }],
      mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'p' }],
    }
    await system.call('cowork_save_policies', { body }, anna)
    expect(await system.call('crm_write', { path: '.env' })).toMatchObject({
      fault: 'policy_blocked',
    })
  })

  test('Y7 nested arguments hide no field, and arguments too complex to check are refused', async () => {
    const system = await governedBy([{ field: 'owner', constraint: 'readonly' }], 'files')
    await trusted(system, 0.9, 'sales', 'files')
    expect(await system.call('files_write', { meta: { list: [{ owner: 'me' }] } })).toMatchObject({
      fault: 'policy_blocked',
      violations: [{ field: 'meta.list.owner' }],
    })
    let deep: unknown = 1
    for (let depth = 0; depth < 100; depth++) deep = { deep }
    expect(await system.call('files_write', { deep })).toMatchObject({ fault: 'invalid_input' })
    expect(system.done).toEqual([])
  })
})

describe('a rule that requires approval', () => {
  test('Y7 high risk needs approval at any trust, even if Y9 alone would allow the call', async () => {
    const system = await governedBy([{ field: 'path', constraint: 'high_risk' }], 'fil*')
    expect(await system.call('files_write', { text: 'x' })).toEqual({})
    const asked = await system.call('files_write', { path: 'a' })
    expect(asked).toMatchObject({ fault: 'approval_required', mode: 'suggest' })
    const { approvals, policies } = system.governance
    expect(await approvals.get(String(asked['approval_id']))).toMatchObject({
      domain: 'files',
      risk: 'high',
      policyVersion: policies().version,
      content: { why: { policy_id: 'p', high_risk_fields: ['path'] } },
    })
    await decide(system, [String(asked['approval_id'])])
    expect(await system.call('files_write', { path: 'a' })).toEqual({})
    expect(await system.call('files_write', { path: 'b' })).toMatchObject({
      fault: 'approval_required',
    })
  })

  test('Y7 A4 a rule can require two different approvers', async () => {
    const system = await governedBy(
      [{ field: 'path', constraint: 'high_risk', approvers: 2 }],
      'files',
    )
    const asked = await system.call('files_write', { path: 'a' })
    const id = String(asked['approval_id'])
    expect(await decide(system, [id])).toMatchObject({ outcomes: [{ status: 'voted' }] })
    expect(await system.call('files_write', { path: 'a' })).toMatchObject({
      fault: 'approval_required',
    })
    expect(await decide(system, [id], {}, ben)).toMatchObject({
      outcomes: [{ status: 'approved' }],
    })
    expect(await system.call('files_write', { path: 'a' })).toEqual({})
  })

  test.each(['high_risk', 'readonly'])(
    'Y7 %s applies to changes and does not block reads',
    async (constraint) => {
      const system = await governedBy([{ field: 'path', constraint }], 'files')
      expect(await system.call('files_read', { path: 'a', owner: 'b' })).toEqual({})
    },
  )
})

describe('trust', () => {
  test('Y9 with a mapping that names the domain, trust decides its writes; a pattern does not do that', async () => {
    const named = await governedBy([], 'files')
    expect(await named.call('files_write')).toMatchObject({
      fault: 'approval_required',
      mode: 'escalate',
    })
    expect(await named.call('files_read')).toEqual({})
    await trusted(named, 0.9, 'sales', 'files')
    expect(await named.call('files_write')).toEqual({})
    const fitting = await governedBy([], 'fil*')
    expect(await fitting.call('files_write')).toEqual({})
    expect(await fitting.call('files_destructive')).toMatchObject({ fault: 'approval_required' })
  })

  test('Y9 without a matching mapping a call has its defaults and is not blocked', async () => {
    const system = await governedBy([notSecret], 'elsewhere')
    for (const name of ['files_read', 'files_write', 'crm_read'])
      expect(await system.call(name, { path: '.env' }), name).toEqual({})
    expect(await system.call('crm_write', { path: '.env' })).toMatchObject({
      fault: 'approval_required',
    })
  })
})

describe('a policy in shadow', () => {
  const shadow = { policy: { mode: 'shadow' } }
  const decisionOf = async (system: Awaited<ReturnType<typeof governedBy>>) =>
    (await system.entries(['call.started'])).at(-1)?.data?.['decision']

  test('Y6 it records its effect on a call and enforces nothing', async () => {
    const system = await governedBy([notSecret], 'fil*', shadow)
    expect(await system.call('files_write', { path: '.env' })).toEqual({})
    expect(await decisionOf(system)).toEqual({
      mode: 'act',
      shadow: { policy_id: 'p', would: 'blocked' },
    })
    expect(await system.call('files_write', { path: 'notes.md' })).toEqual({})
    expect(await decisionOf(system)).toEqual({ mode: 'act' })
    const half = 'half \ud83d'
    expect(await system.call('files_write', { path: `.${half}` })).toEqual({})
  })

  test.each([
    ['readonly', 'blocked'],
    ['high_risk', 'suggest'],
  ])('Y6 records that %s would have %s a proposal', async (constraint, would) => {
    const system = await governedBy([{ field: 'note', constraint }], 'crm', shadow)
    await trusted(system, 0.9)
    const result = await system.call('cowork_propose', {
      domain: 'crm',
      action: 'update',
      target: 'deal-1',
      proposed_change: { note: 'x' },
      confidence: 1,
      reasoning: 'asked for',
    })
    expect(result).toMatchObject({ mode: 'act', status: 'approved', policy_warnings: 1 })
    const [entry] = await system.entries(['proposal.created'])
    expect(entry?.data).toMatchObject({ mode: 'act', shadow: { policy_id: 'p', would } })
    const kept = await system.governance.approvals.get(String(result['proposal_id']))
    expect(kept?.content.why.more).toMatchObject({ shadow: { policy_id: 'p', would } })
  })

  test('Y6 an enforced policy records no shadow effect', async () => {
    const system = await governedBy([{ field: 'note', constraint: 'high_risk' }], 'crm')
    const asked = await system.call('crm_write', { note: 'x' })
    const kept = await system.governance.approvals.get(String(asked['approval_id']))
    expect(kept?.content.why.more).toEqual({
      gate_open: false,
      to_go: 25,
      closed_by: 'unproven',
      floor: 'suggest',
      approvers: 1,
    })
  })
})
