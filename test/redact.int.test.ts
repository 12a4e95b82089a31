import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportLedger, verify as verifyStored } from '../src/cli/audit-verify.ts'
import { startTestApp } from './app.ts'
import { testPlace } from './cli.ts'
import { runCommandWithState } from './commands.ts'

test('L8 cowork ledger redact erases a payload, and store and export still verify', async () => {
  const { state, cowork } = testPlace()
  const app = await startTestApp({}, { state })
  const log = (note: string) =>
    app.call('cowork_log', { domain: 'crm', action: 'a', target: 't', details: { note } })
  try {
    await log('Ann lives in Ulm')
    const find = async (query: string) => {
      const answer = await fetch(`${app.url}/api/ledger?${query}`, {
        headers: { authorization: `Bearer ${app.owner}` },
      })
      return (await answer.json()) as {
        entries: { seq: number; type: string; payload?: string; data?: object }[]
        payloads?: { seq: number; body: string }[]
      }
    }
    const { payloads = [] } = await find('limit=1000&payloads=true')
    const personal = payloads.filter(({ body }) => body.includes('Ulm')).map(({ seq }) => seq)
    expect(personal.length).toBeGreaterThan(0)

    expect((await cowork(['ledger', 'redact', '1'])).code).toBe(2)
    for (const seq of personal) {
      const args = ['ledger', 'redact', String(seq), '--reason', 'Ann asked us to']
      expect(await cowork(args)).toMatchObject({ code: 0 })
      expect(await cowork(args)).toMatchObject({ code: 3 })
    }
    const after = await find('limit=1000&payloads=true')
    expect(JSON.stringify(after)).not.toContain('Ulm')
    expect(after.entries).toContainEqual(
      expect.objectContaining({
        type: 'payload.erased',
        subject: String(personal[0]),
        data: { reason: 'Ann asked us to' },
      }),
    )
    const folder = join(state, 'export')
    expect(
      (await runCommandWithState(state, (context) => exportLedger(context, folder))).code,
    ).toBe(0)
    for (const place of [undefined, folder])
      expect(
        await runCommandWithState(state, (context) => verifyStored(context, place, {})),
      ).toMatchObject({
        code: 0,
        ok: true,
      })
  } finally {
    await app.close()
  }
})

test('L8 erasing requires a person and a reason', async () => {
  const app = await startTestApp()
  try {
    const added = await app.call('cowork_add_agent', { id: 'sales' })
    const { token } = ((await added.json()) as { output: { token: string } }).output
    const refused = async (args: Record<string, unknown>, as?: string) =>
      ((await (await app.call('cowork_redact', args, as)).json()) as { error: { code: string } })
        .error.code
    expect(await refused({ seq: 1, reason: 'x' }, token)).toBe('human_required')
    expect(await refused({ seq: 1, reason: '  ' })).toBe('invalid_input')
    expect(await refused({ seq: 0, reason: 'x' })).toBe('invalid_input')
    expect(await refused({ seq: 99_999, reason: 'x' })).toBe('not_found')
  } finally {
    await app.close()
  }
})
