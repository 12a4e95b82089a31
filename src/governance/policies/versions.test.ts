import { describe, expect, test } from 'vitest'
import { anna, propose, proposed, sales, support } from '../../../test/acts.ts'
import { governed, openGoverned, sqliteStore } from '../../../test/governed.ts'
import type { Governed, Said, Settings, Store } from '../../../test/governed.ts'
import { personCaller } from '../../../test/governance.ts'

const rule = (constraint: string, field = 'note') => ({ field, constraint })
const body = (...rules: object[]) => ({
  policies: [{ id: 'crm', description: 'Deals', rules }],
  mappings: [{ agent_id: '*', domain: 'crm', policy_id: 'crm' }],
})
const free = body()
const careful = body(rule('high_risk'))
const strict = body(rule('readonly'))
const mappingOf = (agent: string) => ({ agent_id: agent, domain: 'crm', policy_id: 'crm' })
const anyReadonly = { id: 'crm', rules: [rule('readonly', '*')] }

const save = (to: Governed, given: unknown, more: object = {}, by = anna): Promise<Said> =>
  to.call('cowork_save_policies', { body: given, ...more }, by)

const versionsOf = async (of: Governed) =>
  (await of.call('cowork_policy_versions', {}, anna))['versions'] as Said[]

/** Runs a daemon from start to end. */
async function during<T>(store: Store, settings: Settings, act: (daemon: Governed) => Promise<T>) {
  const daemon = await openGoverned(settings, {}, store)
  await daemon.governance.versions.start()
  try {
    return await act(daemon)
  } finally {
    await daemon.close()
  }
}

describe('the active version', () => {
  test('Y6 the file is recorded once as version 0', async () => {
    const store = sqliteStore()
    for (const _ of [1, 2])
      await during(store, free, async (daemon) => {
        expect(await versionsOf(daemon)).toEqual([
          {
            number: 0,
            version: daemon.governance.policies().version,
            source: 'file',
            by: 'cowork',
            note: 'cowork.yaml',
            at: expect.any(String),
          },
        ])
        expect(await daemon.entries(['policy.'])).toMatchObject([
          {
            type: 'policy.loaded',
            actor: { kind: 'system' },
            data: { number: 0, from: null, policies: 1, mappings: 1 },
          },
        ])
      })
  })

  test('Y6 a saved version applies to the next proposal, and decisions record the version', async () => {
    const system = await governed(free)
    const before = await proposed(system)
    const saved = await save(system, careful, { note: 'after the audit' })
    expect(saved).toMatchObject({ number: 1, changed: true, from: expect.any(String) })
    const after = await propose(system)
    expect(after).toMatchObject({ mode: 'suggest', high_risk_field: true })
    const version = async (id: unknown) =>
      (await system.governance.approvals.get(String(id)))?.policyVersion
    expect(await version(before)).toBe(saved['from'])
    expect(await version(after['proposal_id'])).toBe(saved['version'])
    expect((await system.entries(['policy.saved']))[0]).toMatchObject({
      actor: { kind: 'human', id: 'anna' },
      subject: saved['version'],
      data: {
        version: saved['version'],
        from: saved['from'],
        note: 'after the audit',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
    expect((await system.verify()).problems).toEqual([])
  })

  test('Y6 saving the same content adds no version, saving older content does', async () => {
    const system = await governed(free)
    const first = (await save(system, careful))['version']
    expect(await save(system, careful)).toMatchObject({ version: first, number: 1, changed: false })
    await save(system, free)
    expect(await save(system, careful)).toMatchObject({ version: first, number: 3, changed: true })
    expect((await versionsOf(system)).map(({ number }) => number)).toEqual([3, 2, 1, 0])
  })

  test('Y6 the newest version wins after a restart: the saved one, or a file changed since', async () => {
    const store = sqliteStore()
    const modeNow = async (daemon: Governed) =>
      (await propose(daemon))['fault'] ?? (await propose(daemon))['high_risk_field']
    await during(store, free, (daemon) => save(daemon, careful))
    await during(store, free, async (daemon) => expect(await modeNow(daemon)).toBe(true))
    await during(store, strict, async (daemon) =>
      expect(await modeNow(daemon)).toBe('policy_blocked'),
    )
    // Restoring the first content is a change too.
    await during(store, free, async (daemon) => {
      expect(await modeNow(daemon)).toBe(false)
      expect((await versionsOf(daemon)).map(({ source }) => source)).toEqual([
        'file',
        'file',
        'saved',
        'file',
      ])
    })
  })

  test('Y6 a file with the saved content is recorded, and a change back counts', async () => {
    const store = sqliteStore()
    await during(store, free, (daemon) => save(daemon, careful))
    await during(store, careful, async (daemon) =>
      expect(await propose(daemon)).toMatchObject({ high_risk_field: true }),
    )
    await during(store, free, async (daemon) =>
      expect(await propose(daemon)).toMatchObject({ high_risk_field: false }),
    )
  })

  test('Y6 other settings of the file change the version, not the saved document', async () => {
    const store = sqliteStore()
    const saved = await during(store, free, (daemon) => save(daemon, careful))
    const settings = { ...free, 'authority.high_risk_mode': 'strictest' }
    await during(store, settings, async (daemon) => {
      expect(await propose(daemon)).toMatchObject({ high_risk_field: true, mode: 'escalate' })
      const [newest] = await versionsOf(daemon)
      expect(newest).toMatchObject({ number: 2, source: 'file' })
      expect(newest?.['version']).not.toBe(saved['version'])
    })
  })

  test('Y6 A11 an unreadable version forbids everything until another is saved', async () => {
    const store = sqliteStore()
    await during(store, free, async (daemon) => {
      await save(daemon, careful)
      const sql = `UPDATE policy_version SET body = '{"policies":[{"id":7}]}' WHERE number = 1`
      await daemon.db.transact((tx) => tx.run({ sql, parameters: [] }))
    })
    await during(store, free, async (daemon) => {
      const refused = { fault: 'policy_unreadable', message: expect.stringContaining('number 1') }
      expect(await propose(daemon)).toMatchObject(refused)
      expect(await daemon.call('cowork_validate_policy', { domain: 'crm' })).toMatchObject(refused)
      const listed = await daemon.call('cowork_list_policies', {}, anna)
      expect(listed).toMatchObject({ problem: refused.message, active: { number: 1 } })
      expect(await save(daemon, free)).toMatchObject({ number: 2, changed: true })
      expect(await propose(daemon)).toMatchObject({ status: 'pending' })
    })
  })

  test('Y6 the list has the active document for editing and approved mappings', async () => {
    const system = await governed(free)
    await save(system, careful)
    await propose(system, { domain: 'elsewhere' })
    const [asked] = await system.governance.approvals.list({ kind: 'permission', limit: 1 })
    const answer = { approval_ids: [asked?.id], decision: 'approve', policy_id: 'crm' }
    await system.call('cowork_decide', answer, anna)
    const listed = await system.call('cowork_list_policies', {}, anna)
    expect(listed).toMatchObject({
      version: system.governance.policies().version,
      active: { number: 1, source: 'saved', by: 'anna' },
      versions: [{ number: 1 }, { number: 0 }],
      policies: [{ id: 'crm', rules: 1 }],
      mappings: [
        { domain: 'crm', source: 'config' },
        { domain: 'elsewhere', source: 'approved' },
      ],
    })
    expect(await save(system, listed['body'])).toMatchObject({ changed: false })
  })
})

describe('saving', () => {
  test.each([
    ['an agent', sales, 'human_required'],
    ['a reviewer', { ...personCaller(), role: 'reviewer' }, 'role_required'],
  ] as const)('Y6 A3 %s may not', async (_, caller, fault) => {
    const system = await governed(free)
    expect(await save(system, strict, {}, caller)).toMatchObject({ fault })
    expect(await propose(system)).toMatchObject({ status: 'pending' })
  })

  test('Y6 an invalid document is refused with its problems, and nothing changes', async () => {
    const system = await governed(free)
    const hostile = { ...rule('regex'), pattern: '(?<=a)b' }
    for (const wrong of ['policies: [', body(hostile), { policies: 7 }, 'x'.repeat(201_000)])
      expect(await save(system, wrong), JSON.stringify(wrong).slice(0, 40)).toMatchObject({
        fault: 'policy_invalid',
        problems: [{ message: expect.any(String) }],
      })
    expect(await save(system, 'x'.repeat(2_000_000))).toMatchObject({ fault: 'invalid_input' })
    expect(await system.rows('policy_version')).toEqual([])
  })

  test('Y6 saving over a newer version is refused', async () => {
    const system = await governed(free)
    const { version } = await save(system, careful)
    const from = system.governance.versions.buildPolicies({ policies: [], mappings: [] }).version
    expect(await save(system, strict, { from })).toMatchObject({
      fault: 'policy_changed',
      message: `The policies changed: anna saved version ${String(version)}.`,
    })
    expect(await save(system, strict, { from: version })).toMatchObject({ changed: true })
  })

  test.each([
    ['no mapping is left for it', { ...free, mappings: [mappingOf('support')] }],
    ['its policy forbids all it proposed', { ...free, policies: [anyReadonly] }],
  ])('Y6 a recently active agent is not locked out by mistake: %s', async (_, locking) => {
    const system = await governed(free)
    await propose(system)
    await propose(system, {}, support)
    const locked = await save(system, locking)
    expect(locked).toMatchObject({
      fault: 'would_lock_out',
      agents: expect.arrayContaining([{ agent_id: 'sales', domains: ['crm'] }]),
      hint: expect.stringContaining('confirm'),
    })
    expect(await versionsOf(system)).toEqual([])
    expect(await save(system, locking, { confirm: true })).toMatchObject({ changed: true })
    // The agent is locked out already: another save needs no confirmation.
    expect(
      await save(system, { ...locking, policies: [...locking.policies, { id: 'b' }] }),
    ).toEqual(expect.objectContaining({ changed: true }))
  })

  test('Y6 agents that keep a way or worked long ago need no confirmation', async () => {
    const system = await governed(free)
    await propose(system, { proposed_change: { note: 'x' } })
    await propose(system, { proposed_change: { amount: 1 } })
    expect(await save(system, strict)).toMatchObject({ changed: true })
    await system.call('cowork_save_policies', { body: free }, anna)
    system.move(31 * 24 * 60 * 60 * 1000)
    const elsewhere = { ...free, mappings: [mappingOf('support')] }
    expect(await save(system, elsewhere)).toMatchObject({ changed: true })
  })
})

describe('earlier versions', () => {
  test('Y6 a version has its content, and two are compared line by line', async () => {
    const system = await governed(free)
    const { version, from } = await save(system, strict)
    const shown = await system.call('cowork_policy_versions', { version: from }, anna)
    expect(shown).toMatchObject({ active: version, body: { policies: [{ id: 'crm', rules: [] }] } })
    expect(await system.call('cowork_policy_diff', { from, to: 'active' }, anna)).toEqual({
      from,
      to: version,
      changed: true,
      diff: [
        `--- ${String(from)}`,
        `+++ ${String(version)}`,
        '@@ -1,7 +1,9 @@',
        ' policies:',
        '   - id: crm',
        '     description: Deals',
        '-    rules: []',
        '+    rules:',
        '+      - field: note',
        '+        constraint: readonly',
        ' mappings:',
        '   - agent_id: "*"',
        '     domain: crm',
      ].join('\n'),
    })
    const written = await system.call('cowork_policy_diff', { from: version, body: strict }, anna)
    expect(written).toMatchObject({ to: 'written', changed: false, diff: '' })
  })

  test('Y6 an unknown version is an error', async () => {
    const system = await governed(free)
    await save(system, strict)
    for (const [tool, args] of [
      ['cowork_policy_versions', { version: '0123456789abcdef' }],
      ['cowork_policy_diff', { from: 'active', to: 'nonsense' }],
      ['cowork_simulate_policy', { version: 'nonsense' }],
    ] as const)
      expect(await system.call(tool, args, anna), tool).toMatchObject({ fault: 'not_found' })
    expect(await system.call('cowork_policy_diff', { from: 'active' }, anna)).toMatchObject({
      fault: 'invalid_input',
    })
  })
})
