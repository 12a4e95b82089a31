// Credentials and erased content in every table of a real store (RS7), the same on both engines.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '#base/tool.ts'
import { anna, decide, getOutcomes, sales, trusted } from './acts.ts'
import { governed, openGoverned } from './governed.ts'
import type { Governed, Said, Store } from './governed.ts'

const password = 'hunter2-very-secret'
const viewer = { ...anna, id: 'vera', role: 'viewer' as const }
const hour = 3_600_000
const mark = '[redacted]'

const proposal = {
  domain: 'crm',
  action: 'set_login',
  target: 'deal-1',
  proposed_change: { password, stage: 'won', note: 'for Ann of Ulm' },
  confidence: 1,
  reasoning: `The login is password=${password}.`,
}

export function protectedArgumentsContract(newStore: () => Promise<Store>) {
  async function setup(store?: Store) {
    const runs: Said[] = []
    const tool = defineTool({
      name: 'crm_login',
      title: 'Log in',
      description: 'For tests',
      toolset: 'crm',
      effect: 'write',
      by: 'anyone',
      input: z.object({ user: z.string(), password: z.string(), note: z.string().default('') }),
      output: z.object({ user: z.string(), echo: z.string() }),
      describeTarget: ({ user }) => ({ domain: 'crm', target: user }),
      async run(input) {
        runs.push(input)
        return { output: { user: input.user, echo: `password=${input.password}` } }
      },
    })
    const settings = { 'approvals.undo_hold': '150ms' }
    const system = await governed(settings, { tools: [tool] }, store ?? (await newStore()))
    const login = (more: object = {}) =>
      system.call('crm_login', { user: 'ann', password, ...more }, sales)
    const ask = async (more: object = {}) => String((await login(more))['approval_id'])
    const propose = async () =>
      String((await system.call('cowork_propose', proposal, sales))['proposal_id'])
    /** A deferred decision makes the sweeper read the clock, which tests have moved. */
    const wake = async () => decide(system, [await ask({ note: 'wake' })], { hold: true })
    return { ...system, runs, login, ask, propose, wake }
  }

  const row = async (system: Governed, id: string) =>
    (await system.rows('approval')).find((one) => (one as { id: string }).id === id) as Record<
      string,
      unknown
    >

  describe('credentials', () => {
    test('RS7 A14 no table contains a proposal or a pending call in clear, before and after the decision', async () => {
      const system = await setup()
      const ends: ((id: string) => Promise<unknown>)[] = [
        (id) => decide(system, [id]),
        (id) =>
          system.call(
            'cowork_decide',
            {
              approval_ids: [id],
              decision: 'reject',
              override: { type: 'agent_wrong', severity: 'low', description: 'no' },
            },
            anna,
          ),
        (id) => system.call('cowork_withdraw', { approval_id: id }, sales),
      ]
      for (const end of ends)
        for (const open of [system.propose, () => system.ask({ note: String(Math.random()) })]) {
          const id = await open()
          expect((await row(system, id))['sealed']).toEqual(expect.any(String))
          expect(await dumpOf(system)).not.toContain(password)
          await end(id)
          const { status, kind, sealed } = await row(system, id)
          expect(status).not.toBe('pending')
          // An approved call has not run yet.
          const isWaiting = kind === 'call' && status === 'approved'
          expect(sealed === null).toBe(!isWaiting)
          expect(await dumpOf(system)).not.toContain(password)
        }
    })

    test('RS7 A14 a call runs once with the real value, and no trace of the value remains', async () => {
      const system = await setup()
      const id = await system.ask()
      await decide(system, [id])
      expect(await system.login()).toEqual({ user: 'ann', echo: `password=${password}` })
      expect(system.runs).toEqual([{ user: 'ann', password, note: '' }])
      expect(await row(system, id)).toMatchObject({ status: 'consumed', sealed: null })
      expect(await dumpOf(system)).not.toContain(password)
      // The agent gets the result of its call; people get it redacted.
      const asked = (caller: typeof anna) =>
        system.call('cowork_check_approval', { approval_id: id }, caller)
      expect(JSON.stringify((await asked(sales))['result'])).toContain(password)
      expect(JSON.stringify(await asked(viewer))).not.toContain(password)
    })

    test('RS7 A14 arguments are deleted when the approval expires or is not used in time', async () => {
      const system = await setup()
      const [pending, approved] = [await system.ask({ note: 'a' }), await system.ask({ note: 'b' })]
      await decide(system, [approved])
      system.move(8 * 24 * hour)
      await system.wake()
      const sealed = async () => [
        (await row(system, pending))['sealed'],
        (await row(system, approved))['sealed'],
      ]
      await expect.poll(sealed).toEqual([null, null])
    })

    test('RS7 A14 everyone sees the redacted copy', async () => {
      const system = await setup()
      const ids = [await system.propose(), await system.ask()]
      for (const caller of [viewer, anna, sales]) {
        for (const id of ids) {
          const detail = await system.governance.inbox.detail(caller, id)
          expect(JSON.stringify(detail)).not.toContain(password)
          expect(detail?.change).toMatchObject({ password: mark })
          const result = await system.call('cowork_check_approval', { approval_id: id }, caller)
          expect(JSON.stringify(result)).not.toContain(password)
        }
        const status = await system.call('cowork_status', {}, caller)
        const { items } = await system.governance.inbox.list(caller, { status: 'all', limit: 9 })
        expect(items).toHaveLength(2)
        expect(JSON.stringify([status, items])).not.toContain(password)
      }
    })

    test('RS7 B3 an edit keeps the real value of an unchanged redacted field', async () => {
      const system = await setup()
      const id = await system.ask()
      const change = { user: 'ann', password: mark, note: 'changed' }
      expect(getOutcomes(await decide(system, [id], { change }))).toMatchObject([
        { status: 'approved' },
      ])
      expect(await dumpOf(system)).not.toContain(password)
      for (const args of [{}, { note: 'changed' }])
        expect(await system.login(args)).not.toHaveProperty('fault')
      expect(system.runs).toEqual([{ user: 'ann', password, note: 'changed' }])
      expect(await row(system, id)).toMatchObject({ status: 'consumed', sealed: null })
    })

    test('RS7 B3 C2 a deferred edit is stored encrypted and applied with the real values', async () => {
      const system = await setup()
      const id = await system.propose()
      const other = 'another-very-secret'
      const change = { ...proposal.proposed_change, password: mark, owner: 'bob', token: other }
      expect(getOutcomes(await decide(system, [id], { change, hold: true }))).toMatchObject([
        { status: 'held' },
      ])
      expect(await dumpOf(system)).not.toContain(other)
      await expect.poll(async () => (await row(system, id))['status']).toBe('approved')
      const asked = (caller: typeof anna) =>
        system.call('cowork_check_approval', { approval_id: id }, caller)
      expect(await asked(sales)).toMatchObject({
        approved_change: { password, owner: 'bob', token: other },
      })
      expect(JSON.stringify(await asked(anna))).not.toMatch(/very-secret/)
      expect(await dumpOf(system)).not.toMatch(/very-secret/)
    })

    test('RS7 B3 an edit that would write the redaction mark is refused, and nothing is decided', async () => {
      const system = await setup()
      const id = await system.ask({ note: `use password=${password} here` })
      for (const change of [
        { user: 'ann', password: mark, note: `use password=${mark} there` },
        { user: 'ann', password: `x${mark}`, note: '' },
        { user: mark, password: mark, note: `use password=${mark} here`, more: mark },
      ])
        expect(getOutcomes(await decide(system, [id], { change }))).toMatchObject([
          { status: 'error', error: { code: 'redacted_edit' } },
        ])
      expect(await row(system, id)).toMatchObject({ status: 'pending' })
    })

    test.each(['sealed', 'content', 'summary', 'digest'])(
      'RS7 A14 an approval whose %s was changed in the store cannot be approved, and nothing is lost',
      async (column) => {
        const system = await setup()
        const [id, sound] = [await system.ask(), await system.ask({ note: 'other' })]
        const before = await row(system, sound)
        const value =
          column === 'content'
            ? String((await row(system, id))['content']).replace('ann', 'eve')
            : String(before[column]).replace(/^./, 'x')
        await system.db.transact((tx) =>
          tx.run({
            sql:
              system.db.dialect === 'sqlite'
                ? `UPDATE approval SET ${column} = ? WHERE id = ?`
                : `UPDATE approval SET ${column} = $1 WHERE id = $2`,
            parameters: [value, id],
          }),
        )
        expect(getOutcomes(await decide(system, [id]))).toMatchObject([
          {
            status: 'error',
            error: { code: 'arguments_changed', message: expect.stringContaining(id) },
          },
        ])
        expect(await row(system, id)).toMatchObject({ status: 'pending', [column]: value })
        expect(getOutcomes(await decide(system, [sound]))).toMatchObject([{ status: 'approved' }])
        expect(getOutcomes(await decide(system, [id], { decision: 'reject' }))).toMatchObject([
          { status: 'rejected' },
        ])
        await expect.poll(() => system.runs).toMatchObject([{ note: 'other' }])
      },
    )

    test('RS7 Y8 a standing permission recognizes the value without storing it', async () => {
      const system = await setup()
      const id = await system.ask()
      await decide(system, [id], { allow: { for: 'always' } })
      expect(await system.login()).toMatchObject({ user: 'ann' })
      expect(await system.login()).toMatchObject({ user: 'ann' })
      expect(await system.login({ password: 'another' })).toMatchObject({
        fault: 'approval_required',
      })
      expect(await dumpOf(system)).not.toContain(password)
      const waiting = await system.ask({ note: 'more' })
      const allow = { for: 'always', arguments: { password: 'hunter*' } }
      expect(getOutcomes(await decide(system, [waiting], { allow }))).toMatchObject([
        { status: 'error', error: { code: 'invalid_input' } },
      ])
    })

    test('RS7 A14 plain values of an earlier version are converted once, on the first start', async () => {
      const store = await newStore()
      const old = await openGoverned({}, {}, store)
      const ids = ['a', 'b', 'c'].map((letter) => `0190d5a0-0000-7000-8000-00000000000${letter}`)
      const [pending = '', rejected = '', held = ''] = ids
      const first = String((await old.call('cowork_propose', proposal, sales))['proposal_id'])
      const [template] = (await old.rows('approval')) as Record<string, unknown>[]
      const content = {
        ...(JSON.parse(String(template?.['content'])) as object),
        change: proposal.proposed_change,
        reasoning: proposal.reasoning,
      }
      const clear = {
        ...template,
        content: JSON.stringify(content),
        sealed: null,
        in_clear: 1,
        summary: `set_login: password = ${password}`,
      }
      const decision = {
        verdict: 'approve',
        by: { kind: 'human', id: 'anna' },
        channel: 'api',
        at: 1,
      }
      const change = { password: `new-${password}`, stage: 'won' }
      await old.db.transact((tx) =>
        tx.insert('approval', [
          { ...clear, id: pending },
          { ...clear, id: rejected, status: 'rejected', reason: `password=${password}` },
          {
            ...clear,
            id: held,
            held_until: Date.now() + hour,
            held: JSON.stringify({ ...decision, change }),
          },
        ]),
      )
      await old.db.transact((tx) =>
        tx.insert('permission', [
          {
            id: 'p1',
            agent: 'sales',
            tool: 'crm_login',
            arguments: JSON.stringify({
              exact: { user: 'ann', password, note: '' },
              globs: {},
              free: [],
            }),
            lasts: 'always',
            approval: first,
            by: 'anna',
            at: Date.now(),
            risk: 'high',
          },
        ]),
      )
      expect(await dumpOf(old)).toContain(password)
      await old.close()

      const system = await setup(store)
      await system.governance.convert()
      expect(await dumpOf(system)).not.toContain(password)
      expect((await row(system, pending))['sealed']).toEqual(expect.any(String))
      expect(await row(system, rejected)).toMatchObject({ sealed: null, status: 'rejected' })
      const rows = await system.rows('approval')
      await system.governance.convert()
      expect(await system.rows('approval')).toEqual(rows)
      expect(await system.entries(['approval.redacted', 'permission.redacted'])).toMatchObject([
        { data: { permission: 'p1' } },
        { data: { approvals: 3 } },
      ])
      expect(await system.login()).toMatchObject({ user: 'ann' })
      expect(
        getOutcomes(await decide(system, [pending], { change: { password: mark, stage: 'lost' } })),
      ).toMatchObject([{ status: 'approved' }])
      expect(
        await system.call('cowork_check_approval', { approval_id: pending }, sales),
      ).toMatchObject({ approved_change: { password, stage: 'lost' } })
    })
  })

  describe('erasing', () => {
    const content = 'Ann of Ulm'
    const erase = (system: Governed, seq: number) =>
      system.ledger.transact((tx) =>
        system.ledger.erase(tx, seq, 'Ann asked us to', { kind: 'human', id: 'anna' }),
      )
    const seqOf = async (system: Governed, type: string) =>
      (await system.entries([type])).at(-1)?.seq ?? 0

    test('RS7 L8 erasing covers the approval of a proposal, its edit and the calls with both', async () => {
      const system = await setup()
      const id = await system.propose()
      await decide(system, [id], { change: { note: `${content}, edited` } })
      expect(await dumpOf(system)).toContain(content)
      await erase(system, await seqOf(system, 'proposal.created'))
      expect(await dumpOf(system)).not.toContain(content)
      const detail = await system.governance.inbox.detail(anna, id)
      expect(detail).toMatchObject({ status: 'approved', change: null })
      expect(JSON.stringify(await system.call('cowork_status', {}, anna))).not.toContain(content)
      expect(await system.verify()).toMatchObject({ ok: true })
    })

    test('RS7 L8 erasing covers a spot check and a handoff', async () => {
      const store = await newStore()
      const system = await governed({ 'trust.spot_check_rate': 1 }, { draw: () => 0 }, store)
      await trusted(system, 0.95)
      const change = { note: content }
      await system.call('cowork_propose', { ...proposal, proposed_change: change }, sales)
      await system.governance.spotChecks.flush()
      expect(await system.governance.approvals.countPending()).toMatchObject({ spot_check: 1 })
      const seq = await seqOf(system, 'proposal.created')
      await system.call(
        'cowork_handoff',
        {
          domain: 'crm',
          reason: `Call ${content}`,
          handoff_mode: 'escalate',
          confidence: 0.5,
          context: { who: content },
        },
        sales,
      )
      await erase(system, seq)
      await erase(system, await seqOf(system, 'handoff.created'))
      expect(await dumpOf(system)).not.toContain(content)
      expect(await system.call('cowork_status', {}, anna)).toMatchObject({ pending_handoffs: [] })
      expect(await system.verify()).toMatchObject({ ok: true })
    })

    test('RS7 L8 erasing withdraws a pending request by its opening entry', async () => {
      const system = await setup()
      const id = await system.ask({ note: content })
      await erase(system, await seqOf(system, 'approval.requested'))
      expect(await row(system, id)).toMatchObject({ status: 'withdrawn', sealed: null })
      expect(await dumpOf(system)).not.toContain(content)
      expect(await system.entries(['approval.withdrawn'])).toMatchObject([
        { actor: { id: 'anna' }, ids: { approval: id }, data: { why: 'The content was erased.' } },
      ])
      await expect(erase(system, await seqOf(system, 'approval.requested'))).rejects.toThrow(
        expect.objectContaining({ code: 'not_found' }),
      )
    })

    test('RS7 L8 erasing one of many calls under a permission does not affect the others', async () => {
      const system = await setup()
      const id = await system.ask({ note: content })
      const allow = { for: 'always', arguments: { note: '*' }, rest: 'exact' }
      await decide(system, [id], { allow })
      await system.login({ note: content })
      await system.login({ note: 'second' })
      const started = await system.entries(['call.started'])
      await erase(system, started.at(-1)?.seq ?? 0)
      expect(await dumpOf(system)).not.toContain('second')
      expect(await dumpOf(system)).toContain(content)
      await erase(system, started.at(-2)?.seq ?? 0)
      expect(await dumpOf(system)).not.toContain(content)
    })

    test('RS7 L8 the upgrade erases approvals of content erased by earlier versions', async () => {
      const system = await setup()
      const id = await system.propose()
      const seq = await seqOf(system, 'proposal.created')
      await system.ledger.transact(async (tx) => {
        await tx.run({ sql: `DELETE FROM ledger_payload WHERE seq = ${seq}`, parameters: [] })
        const actor = { kind: 'human' as const, id: 'anna' }
        tx.append({ type: 'payload.erased', actor, subject: String(seq), data: { reason: 'x' } })
      })
      expect(await dumpOf(system)).toContain(content)
      await system.ledger.eraseRemainingCopies()
      expect(await dumpOf(system)).not.toContain(content)
      expect(await row(system, id)).toMatchObject({ status: 'withdrawn' })
    })

    test('RS7 L8 a bulk decision is erased separately', async () => {
      const system = await setup()
      const ids = [await system.propose(), await system.propose()]
      await decide(system, ids, { reason: 'both fine' })
      const seq = (await system.entries(['call.done'])).at(-1)?.seq ?? 0
      await erase(system, seq)
      expect(await system.ledger.payloads([seq])).toEqual([])
      for (const id of ids) expect((await row(system, id))['erased_at']).toBeNull()
      await erase(system, await seqOf(system, 'approval.approved'))
      expect((await row(system, ids[0] ?? ''))['erased_at']).toBeNull()
      expect((await row(system, ids[1] ?? ''))['erased_at']).not.toBeNull()
    })

    test('RS7 L8 retention erases decided approvals', async () => {
      const system = await setup()
      const [decided, pending] = [await system.propose(), await system.ask({ note: content })]
      await decide(system, [decided])
      await system.ledger.eraseBefore(system.now() + 1000)
      expect(await row(system, decided)).toMatchObject({
        summary: '',
        erased_at: expect.anything(),
      })
      expect((await row(system, pending))['sealed']).toEqual(expect.any(String))
      await decide(system, [pending], { decision: 'reject' })
      await system.ledger.eraseBefore(system.now() + 1000)
      expect(await dumpOf(system)).not.toContain(content)
      expect(await system.verify()).toMatchObject({ ok: true })
    })

    test('RS7 L21 a payload restored after erasure is detected', async () => {
      const system = await setup()
      await system.propose()
      const seq = await seqOf(system, 'proposal.created')
      const [payload] = await system.ledger.payloads([seq])
      await erase(system, seq)
      expect(await system.verify()).toMatchObject({ ok: true })
      await system.db.transact((tx) => tx.insert('ledger_payload', [{ ...payload }]))
      const why = 'the payload exists although it was erased'
      expect(await system.verify()).toMatchObject({ ok: false, firstBad: { seq, why } })
    })
  })
}

const tables =
  'ledger_entry ledger_payload approval approval_vote delivery permission mapping override trust trust_point handoff policy_version halt agent work_item work_change file_grant'.split(
    ' ',
  )

/** The full content of the store. */
async function dumpOf(system: Governed): Promise<string> {
  const rows = await Promise.all(tables.map((table) => system.rows(`"${table}"`)))
  return JSON.stringify(rows)
}
