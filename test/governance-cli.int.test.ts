import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { defineTool } from '../src/base/tool.ts'
import { overrideTypes } from '../src/governance/rules/trust.ts'
import { startTestApp } from './app.ts'
import { newPlace } from './cli.ts'
import { createFixture } from './conformance/conformance.fixture.ts'
import { inTerminal } from './terminal.ts'

const jsonOf = (text: string) => JSON.parse(text) as Record<string, unknown>

// Long enough to undo on any machine.
const config = `
approvals: { undo_hold: 10m }
policies:
  - id: careful
    description: Deals
    rules:
      - { id: small, field: discount, constraint: value_range, min: 0, max: 20 }
mappings:
  - { agent_id: sales, domain: 'crm*', policy_id: careful }
  - { agent_id: support, domain: '*', policy_id: careful }
`

const place = newPlace(config)
const { cowork } = place
let token = ''

beforeAll(async () => {
  await cowork(['up', '-d'])
  token = String(jsonOf((await cowork(['agents', 'add', 'sales', '--json'])).stdout)['token'])
})
afterAll(place.end)

type Proposed = { output?: { proposal_id: string }; error?: { approval_id?: string } }

async function propose(more: Record<string, unknown> = {}, bearer = token): Promise<string> {
  const proposal = {
    domain: 'crm',
    action: 'update_deal',
    target: 'deal-1',
    proposed_change: { note: 'call back' },
    confidence: 0.9,
    reasoning: 'They asked for it.',
    ...more,
  }
  const answer = await fetch(
    `http://localhost:${place.daemon().port}/api/tools/cowork_propose/call`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: proposal }),
    },
  )
  const { output, error } = (await answer.json()) as Proposed
  return output?.proposal_id ?? error?.approval_id ?? ''
}

const statusOf = async (id: string) =>
  jsonOf((await cowork(['inbox', 'show', id, '--json'])).stdout)['status']

/** Runs a command with a person at a terminal. */
const byHand = (args: string[], env: Record<string, string> = {}) =>
  inTerminal(place, args, env).ended()

describe('reading', () => {
  test('K2, K6 without a terminal the inbox is a list, or JSON with its schema version', async () => {
    const id = await propose({ domain: 'crm.list', target: 'deal-list' })
    const { code, stdout, stderr } = await cowork(['inbox'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^ID +KIND +AGENT/)
    expect(stdout).toMatch(/^[0-9a-f-]{8,} +proposal +sales .* deal-list/m)
    const listed = jsonOf((await cowork(['inbox', '--json', '--domain', 'crm.list'])).stdout)
    expect(listed).toMatchObject({ schemaVersion: 1, items: [{ id, requester: 'sales' }] })
    expect((await cowork(['inbox', '--agent', 'sal', '--domain', 'nowhere'])).stdout).toBe(
      'Inbox is empty.\n',
    )
    expect(await cowork(['inbox', '--kind', 'nonsense'])).toMatchObject({ code: 2 })
  })

  test('A8, A13 show prints the reason first, and agent text cannot control the terminal', async () => {
    const id = await propose({
      domain: 'crm.show',
      target: 'deal-\u202e\u001b[2J',
      proposed_change: { deal_stage: 'won\u2066' },
      reasoning: 'line one\nline \u0007two',
    })
    const { code, stdout } = await cowork(['inbox', id.slice(0, 20)])
    expect(code).toBe(0)
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e\u2066]/)
    for (const text of ['U+202E', 'U+001B', 'U+2066', '│ line one\n', '│ line U+0007two'])
      expect(stdout).toContain(text)
    expect(stdout.indexOf('Reason')).toBeLessThan(stdout.indexOf('Change to'))
    expect(stdout).toContain('You are asked because')
    expect(stdout).toMatch(/approve: 0\.30 → 0\.32/)
    expect(stdout).toMatch(/reject as agent_wrong: low 0\.26, medium 0\.22/)
    expect(await cowork(['inbox', 'show', 'ffff'])).toMatchObject({ code: 3, stdout: '' })
    expect(await cowork(['inbox', 'show', id.slice(0, 2)])).toMatchObject({ code: 2 })
  })

  test('T1, I4 trust of a revoked agent is marked', async () => {
    const added = jsonOf((await cowork(['agents', 'add', 'support', '--json'])).stdout)
    await propose({ domain: 'crm.passing' }, String(added['token']))
    const details = async () => (await cowork(['trust'])).stdout
    expect(await details()).toMatch(
      /^support +crm\.passing +0\.30 +Probation +trust is 0\.30 +0\.50 to be supervised$/m,
    )
    await cowork(['agents', 'revoke', 'support'])
    expect(await details()).toMatch(/^support +crm\.passing +0\.30 +Revoked +agent revoked$/m)
    const { trust } = jsonOf((await cowork(['trust', '--json'])).stdout)
    expect(trust).toContainEqual(expect.objectContaining({ agent_id: 'support', gone: true }))
  })

  test('K1, K2 trust, policy, permissions and deliveries answer in JSON', async () => {
    await propose({ domain: 'crm.read' })
    const reads = [
      ['trust', '--json'],
      ['trust', 'sal', '--json'],
      ['trust', 'sales', 'crm.read', '--json'],
      ['policy', 'list', '--json'],
      ['permissions', '--json'],
      ['notify', 'deliveries', '--dead', '--json'],
    ]
    for (const args of reads) {
      const { code, stdout, stderr } = await cowork(args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(jsonOf(stdout)).toMatchObject({ schemaVersion: 1 })
    }
    expect(await cowork(['trust', 'nobody'])).toMatchObject({ code: 3 })
    expect(await cowork(['trust', 'sales', 'never-seen'])).toMatchObject({ code: 3 })
    expect(await cowork(['permissions', 'revoke', 'x'])).toMatchObject({ code: 3 })
    expect(await cowork(['notify', 'retry', 'x'])).toMatchObject({ code: 3 })
    const { stdout } = await cowork(['policy', 'list'])
    expect(stdout).toMatch(/^careful +enforce +1 +Deals$/m)
    expect(stdout).toMatch(/^sales +crm\* +careful +config$/m)
  })

  test('Y5, K3 policy check reports a block and exits with 5', async () => {
    const good = ['policy', 'check', 'sales', 'crm', '--field', 'discount', '--value', '10']
    expect(await cowork(good)).toMatchObject({ code: 0, stdout: expect.stringContaining('VALID') })
    const change = ['policy', 'check', 'sales', 'crm', '--change', '{"discount": 90}']
    const blocked = await cowork(change)
    expect(blocked).toMatchObject({ code: 5 })
    expect(blocked.stdout).toMatch(/hard_stop {2}discount: .*\(rule small\)/)
    const value = ['policy', 'check', 'sales', 'crm', '--field', 'discount', '--value', '90']
    expect(await cowork(value)).toMatchObject({ code: 5 })
    expect(await cowork(['policy', 'check', 'sales', 'hr'])).toMatchObject({ code: 5 })
    expect(await cowork(['policy', 'check', 'sales', 'crm', '--value', '1'])).toMatchObject({
      code: 2,
    })
    expect(await cowork(['policy', 'check', 'sales', 'crm', '--change', '{'])).toMatchObject({
      code: 2,
    })
  })
})

describe('deciding', () => {
  test('I10 a script and an agent cannot decide; a person at a terminal can', async () => {
    const id = await propose({ domain: 'crm.person' })
    for (const args of [
      ['approve', id],
      ['reject', id, '--type', 'edge_case'],
      ['undo', id],
    ])
      expect(await cowork(args)).toMatchObject({ code: 4, stdout: '' })
    const driven = await byHand(['approve', id], { CLAUDECODE: '1' })
    expect(driven.code).toBe(4)
    expect(driven.output).toContain('best effort')
    expect(await statusOf(id)).toBe('pending')
    const approved = await byHand(['approve', id.slice(0, 20), '--feedback', 'well done'])
    expect(approved.code).toBe(0)
    expect(approved.output).toMatch(/approved .* trust 0\.30 → 0\.32/)
    const shown = jsonOf((await cowork(['inbox', 'show', id, '--json'])).stdout)
    expect(shown).toMatchObject({ status: 'approved', channel: 'cli', reason: 'well done' })
  })

  test('B4, K3 a rejection needs a type; a decided proposal exits with 3 and names the person', async () => {
    const id = await propose({ domain: 'crm.reject' })
    expect((await byHand(['reject', id])).code).toBe(2)
    expect((await byHand(['reject', id, '--type', 'nonsense'])).code).toBe(2)
    const args = ['reject', id, '--type', 'agent_wrong', '--severity', 'high', '--reason', 'no']
    const rejected = await byHand(args)
    expect(rejected.code).toBe(0)
    expect(rejected.output).toMatch(/rejected .* trust 0\.30 → 0\.18/)
    const again = await byHand(['approve', id])
    expect(again.code).toBe(3)
    expect(again.output).toContain('already decided: rejected by owner')
    expect((await byHand(['approve', 'ffff'])).code).toBe(3)
  })

  test('B2, K3 several items have an outcome each; a failure does not affect the others', async () => {
    const [first, second] = [
      await propose({ domain: 'crm.bulk' }),
      await propose({ domain: 'crm.bulk' }),
    ]
    const { code, output } = await byHand(['approve', '--now', first, 'ffff', second])
    expect(code).toBe(1)
    expect(output.match(/^approved /gm)).toHaveLength(2)
    expect(output).toMatch(/^failed +ffff/m)
    expect([await statusOf(first), await statusOf(second)]).toEqual(['approved', 'approved'])
  })

  test('C2 a high-risk decision is deferred and can be undone', async () => {
    const id = await propose({ domain: 'crm.held', proposed_change: { deal_stage: 'won' } })
    const held = await byHand(['approve', id])
    expect(held.code).toBe(0)
    expect(held.output).toMatch(/held until .* UTC/)
    expect(held.output).toContain('cowork undo')
    const undone = await byHand(['undo', id])
    expect(undone).toMatchObject({ code: 0, output: expect.stringContaining('pending again') })
    expect(await statusOf(id)).toBe('pending')
    expect((await byHand(['undo', id])).code).toBe(3)
  })

  test('B3 the agent reads the edited change', async () => {
    const id = await propose({ domain: 'crm.edit' })
    writeFileSync(join(place.state, 'change.json'), '{"note": "write instead"}')
    expect((await byHand(['approve', id, '--change', '@change.json'])).code).toBe(0)
    const shown = jsonOf((await cowork(['inbox', 'show', id, '--json'])).stdout)
    expect(shown).toMatchObject({ collaborative: true, approved_change: { note: 'write instead' } })
    expect((await byHand(['approve', id, id.slice(0, 9), '--change', '{}'])).code).toBe(2)
  })

  test('Y4 work in a new domain is approved with a policy', async () => {
    const id = await propose({ domain: 'hr.new' })
    expect((await byHand(['approve', id])).code).toBe(2)
    expect((await byHand(['approve', id, '--policy', 'careful'])).code).toBe(0)
    expect((await cowork(['policy', 'list'])).stdout).toMatch(
      /^sales +hr\.new +careful +approved$/m,
    )
  })

  test('T5, T16 override marks a past action as wrong, trust set has a reason', async () => {
    await propose({ domain: 'crm.trust' })
    const override = ['override', 'sal', 'crm.trust', '--description', 'wrong deal']
    expect((await byHand(override)).code).toBe(2)
    const corrected = await byHand([...override, '--type', 'agent_wrong'])
    expect(corrected).toMatchObject({ code: 0, output: expect.stringContaining('0.30 → 0.22') })
    const set = ['trust', 'set', 'sales', 'crm.trust', '0.6', '--reason', 'known for years']
    expect(await cowork(set)).toMatchObject({ code: 4 })
    expect(await byHand(set)).toMatchObject({
      code: 0,
      output: expect.stringContaining('Trust of sales in crm.trust: 0.22 → 0.60.'),
    })
    expect((await byHand(['trust', 'set', 'sales', 'crm.trust', '7', '--reason', 'x'])).code).toBe(
      2,
    )
    const { stdout } = await cowork(['trust', 'sales', 'crm.trust'])
    expect(stdout).toMatch(/^trust: +0\.6000$/m)
    expect(stdout).toMatch(/^NORMAL RISK {2}Supervised: trust is 0\.60$/m)
  })
})

describe('the screen', () => {
  const patiently = { timeout: 20_000 }

  /** The inbox of one domain, to isolate the tests. */
  async function open(domain: string, env: Record<string, string> = {}) {
    const terminal = inTerminal(place, ['inbox', '--domain', domain], env)
    const screen = () => terminal.lines().join('\n')
    const sees = async (text: string | RegExp) => {
      await expect.poll(screen, patiently).toMatch(text)
    }
    await sees(/Inbox \d+ pending/)
    return { ...terminal, sees }
  }

  test('K6 list, read and approve by keys; the terminal is restored', async () => {
    const id = await propose({ domain: 'crm.keys', target: 'deal-keys' })
    const { sees, press, lines, ended, output, settings } = await open('crm.keys')
    await sees(/❯ ▲ escalate .*deal-keys/)
    expect(lines()).toHaveLength(24)
    press('\r')
    await sees('You are asked because')
    press('\u001b')
    await sees('Enter read')
    press('a')
    await sees(/Approved\. Trust 0\.30 → 0\.32\./)
    expect(await statusOf(id)).toBe('approved')
    await sees('Inbox is empty.')
    press('q')
    expect(await ended()).toMatchObject({ code: 0 })
    expect(output().endsWith('\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l')).toBe(true)
    const [before, after] = settings()
    expect(after).toBe(before)
  })

  test('K6, C10 new items and decisions of others appear without a key', async () => {
    const { sees, press, ended } = await open('crm.live')
    await sees('Inbox is empty.')
    const id = await propose({ domain: 'crm.live', target: 'deal-live' })
    await sees(/❯ ▲ escalate .*deal-live/)
    await byHand(['reject', id, '--type', 'human_preference'])
    await sees(/Rejected by owner \(cli\)/)
    press('a')
    await sees('Nothing to decide: rejected by owner.')
    press('q')
    expect(await ended()).toMatchObject({ code: 0 })
  })

  test('B4 d prompts for the mistake, and Esc cancels', async () => {
    const id = await propose({ domain: 'crm.deny' })
    const { sees, press, ended } = await open('crm.deny')
    press('d')
    await sees('❯ 1 agent_wrong       trust 0.22')
    press('\u001b')
    await sees('Canceled.')
    press('d')
    await sees('What kind of error?')
    press('2')
    await sees('How severe?')
    press('\r')
    press('no time')
    await sees('Reason: no time')
    press('\r')
    await sees(/Rejected\. Trust 0\.30 → 0\.27\./)
    expect(await statusOf(id)).toBe('rejected')
    press('q')
    await ended()
  })

  test('C2 a high-risk decision is deferred, and z undoes it', async () => {
    const id = await propose({ domain: 'crm.undo', proposed_change: { deal_stage: 'won' } })
    const { sees, press, ended } = await open('crm.undo')
    press('a')
    await sees('Press z to undo')
    await sees(/Approves in \d+m, by owner/)
    press('z')
    await sees('Undone.')
    press('q')
    await ended()
    expect(await statusOf(id)).toBe('pending')
  })

  test('B3 e opens the editor, and the edited change is approved after confirmation', async () => {
    const editor = join(place.state, 'editor')
    writeFileSync(editor, `#!/bin/sh\ncp "$2" ${editor}.seen\nprintf '%s' "$(cat $1)" > "$2"\n`)
    chmodSync(editor, 0o755)
    const text = join(place.state, 'text')
    writeFileSync(text, '{ not JSON')
    const id = await propose({ domain: 'crm.editor', proposed_change: { note: 'a\u202eb' } })
    const env = { VISUAL: `${editor} ${text}`, EDITOR: 'false' }
    const { sees, press, ended } = await open('crm.editor', env)
    press('e')
    await sees('Invalid JSON: no decision was made.')
    expect(readFileSync(`${editor}.seen`, 'utf8')).toContain('"note": "a\\u202eb"')
    writeFileSync(text, '{"note": "by hand"}')
    press('e')
    await sees('Approve with your changes?')
    expect(readFileSync(`${editor}.seen`, 'utf8')).toBe('{ not JSON\n')
    press('y')
    await sees('Approved.')
    press('q')
    await ended()
    const shown = jsonOf((await cowork(['inbox', 'show', id, '--json'])).stdout)
    expect(shown).toMatchObject({ collaborative: true, approved_change: { note: 'by hand' } })
  })

  test('I10 the screen is read-only for an agent', async () => {
    const id = await propose({ domain: 'crm.agent' })
    const { sees, press, ended } = await open('crm.agent', { CURSOR_AGENT: '1' })
    press('a')
    await sees(/CURSOR_AGENT shows that an agent controls this\s+terminal/)
    await sees(/best\s+effort/)
    press('q')
    await ended()
    expect(await statusOf(id)).toBe('pending')
  })

  test('K6 a resized window is redrawn to its last column', async () => {
    await propose({ domain: 'crm.size', target: 'x'.repeat(100) })
    const { sees, press, lines, resize, ended } = await open('crm.size')
    await sees('❯')
    resize(12, 50)
    await expect.poll(() => lines().length, patiently).toBe(12)
    for (const line of lines()) expect([...line].length).toBeLessThanOrEqual(50)
    resize(5, 30)
    await sees('The window is too small.')
    resize(30, 100)
    await expect.poll(() => lines().length, patiently).toBe(30)
    await sees('❯ ▲ escalate')
    press('q')
    await ended()
  })

  test('K3, K6 Ctrl-C exits with 130, and pasted text decides nothing', async () => {
    const id = await propose({ domain: 'crm.paste' })
    const { sees, press, ended, output, settings } = await open('crm.paste')
    await sees('❯')
    press('\u001b[200~aaaa\r\u001b[201~')
    press('?')
    await sees('undo the last decision')
    press('\u0003')
    expect(await ended()).toMatchObject({ code: 130 })
    expect(output()).toContain('\u001b[?1049l')
    expect(settings()[1]).toBe(settings()[0])
    expect(await statusOf(id)).toBe('pending')
  })

  test('K6 a filter finds text, and s snoozes until S', async () => {
    for (const target of ['acme-one', 'acme-two', 'other'])
      await propose({ domain: 'crm.words', target })
    const { sees, press, lines, ended } = await open('crm.words')
    await sees('acme-one')
    press('/acme\r')
    await expect.poll(() => lines().join('\n'), patiently).not.toContain('other')
    await sees(/acme-two[\s\S]*acme-one/)
    press('s')
    await expect.poll(() => lines().join('\n'), patiently).not.toContain('acme-two')
    press('S\u001b')
    await sees(/other[\s\S]*acme-two/)
    press('q')
    await ended()
  })

  test('K6 a crash restores the terminal and prints the error', async () => {
    const file = join(place.state, 'crash.pid')
    const trap = `process.getBuiltinModule('fs').writeFileSync('${file}', String(process.pid));
      process.on('SIGUSR2', () => { throw new Error('gone wrong') })`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(trap).replaceAll("'", '%27')}`
    const { ended, output, settings } = await open('crm.crash', { NODE_OPTIONS })
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGUSR2')
    expect(await ended()).toMatchObject({ code: 1 })
    const [before, after] = settings()
    expect(after).toBe(before)
    expect(output().split('\u001b[?1049l')[1]).toContain('gone wrong')
  })

  test('K2 colors on a color terminal, none with NO_COLOR', async () => {
    await propose({ domain: 'crm.colour' })
    const plain = await open('crm.colour')
    await plain.sees('❯')
    plain.press('q')
    await plain.ended()
    // oxlint-disable-next-line no-control-regex
    expect(plain.output()).not.toMatch(/\u001b\[[\d;]*m/)
    const coloured = await open('crm.colour', { NO_COLOR: '' })
    await coloured.sees('❯')
    coloured.press('q')
    await coloured.ended()
    expect(coloured.output()).toContain('\u001b[31m▲ escalate')
  })
})

test('Y8, B4 a pending call gets a permission for some uses, which is revoked; a rejection does not change trust', async () => {
  const sendMail = defineTool({
    name: 'send_mail',
    title: 'Send mail',
    description: 'Sends nothing.',
    toolset: 'mail',
    effect: 'write',
    by: 'agent',
    input: z.object({ to: z.string() }),
    output: z.object({ sent: z.boolean() }),
    describeTarget: ({ to }) => ({ domain: 'mail', target: to }),
    run: () => Promise.resolve({ output: { sent: true } }),
  })
  const app = await startTestApp({}, { fixture: { ...createFixture(), tools: [sendMail] } })
  onTestFinished(app.close)
  const env = { PATH: process.env['PATH'], HOME: app.state, COWORK_STATE_DIR: app.state }
  const run = (...args: string[]) => inTerminal({ state: app.state, env }, args).ended()
  const added = (await (await app.call('cowork_add_agent', { id: 'sales' })).json()) as {
    output: { token: string }
  }
  type Answer = { output?: { sent: boolean }; error?: { code: string; approval_id?: string } }
  const send = async (to: string) =>
    (await (await app.call('send_mail', { to }, added.output.token)).json()) as Answer

  const waiting = await send('bea')
  expect(waiting.error).toMatchObject({ code: 'approval_required' })
  const id = waiting.error?.approval_id ?? ''
  expect(await run('approve', id, '--allow', 'uses:0')).toMatchObject({ code: 2 })
  expect(await run('approve', id, '--allow', 'uses:3')).toMatchObject({ code: 0 })
  expect((await send('bea')).output).toEqual({ sent: true })
  const listed = await run('permissions')
  const [, permission = ''] = /^([0-9a-f-]+) +sales +send_mail +\d uses/m.exec(listed.output) ?? []
  expect(await run('permissions', 'revoke', permission)).toMatchObject({ code: 0 })
  expect((await run('permissions')).output).toContain('No standing permissions.')

  const other = (await send('cem')).error?.approval_id ?? ''
  const rejected = await run('reject', other, '--reason', 'not him')
  expect(rejected.code).toBe(0)
  expect(rejected.output).not.toContain('trust')
  expect((await send('cem')).error).toMatchObject({ code: 'approval_denied' })
})

test('K1, T4 bash completes commands, override types and severities', async () => {
  const script = join(place.state, 'cowork.bash')
  writeFileSync(script, (await cowork(['completion', 'bash'])).stdout)
  const line = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cowork; echo "\${COMPREPLY[*]}"`
  const complete = (...words: string[]) =>
    execFileSync('bash', ['-c', line, 'bash', 'cowork', ...words], { encoding: 'utf8' }).trim()
  expect(complete('inb')).toBe('inbox')
  expect(complete('trust', 's')).toBe('set')
  expect(complete('trust', 'f')).toBe('forgive')
  expect(complete('trust', 'forgive', 'sales', 'crm', '--risk', '')).toBe('low normal high')
  expect(complete('reject', 'x', '--type', '')).toBe(overrideTypes.join(' '))
  expect(complete('override', 'sales', 'crm', '--severity', 'c')).toBe('critical')
  expect(complete('inbox', '--kind', 'spot')).toBe('spot_check')
  expect(complete('audit', 'tail', '--type', '')).toBe('')
})

test('K3 without a daemon the inbox exits with 8, on a terminal too', async () => {
  const other = newPlace()
  expect(await other.cowork(['inbox'])).toMatchObject({ code: 8, stdout: '' })
  const { code, output } = await inTerminal(other, ['inbox']).ended()
  expect(code).toBe(8)
  expect(output).toContain('The daemon is not running on')
  expect(existsSync(other.paths.daemon)).toBe(false)
  await other.end()
})
