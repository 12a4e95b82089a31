import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startReceiver } from './approvals/notify/notify.fixture.ts'
import { startTelegram } from './approvals/notify/telegram/telegram.fixture.ts'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import { newPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

type Said = Record<string, unknown>
const jsonOf = (text: string) => JSON.parse(text) as Said

const rules = `policies:
  - id: careful
    description: Deals
    rules:
      - { id: small, field: discount, constraint: value_range, min: 0, max: 20 }
mappings:
  - { agent_id: sales, domain: 'crm*', policy_id: careful }
`

const place = newPlace(rules)
const { cowork } = place
let token = ''

beforeAll(async () => {
  await cowork(['up', '-d'])
  token = String(jsonOf((await cowork(['agents', 'add', 'sales', '--json'])).stdout)['token'])
})
afterAll(place.end)

/** Calls a tool as the agent. */
async function asSales(tool: string, args: object): Promise<Said> {
  const url = `http://localhost:${place.daemon().port}/api/tools/${tool}/call`
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: args }),
  })
  const { output, error } = (await answer.json()) as { output?: Said; error?: Said }
  return output ?? error ?? {}
}

const propose = async (more: object = {}) =>
  String((await asSales('cowork_propose', proposal(more)))['proposal_id'])

const handOver = async (more: object = {}) => {
  const handoff = {
    domain: 'crm',
    reason: 'The discount is above what I may give.',
    confidence: 0.4,
    attempted_actions: ['asked the customer'],
    context: { wanted: 0.3 },
    ...more,
  }
  return String((await asSales('cowork_handoff', handoff))['handoff_id'])
}

const byHand = (args: string[], env: Record<string, string> = {}) =>
  inTerminal(place, args, env).ended()

/** Runs a command with `--json`, which prints exactly one object (K2). */
async function read(...args: string[]): Promise<Said> {
  const { code, stdout, stderr } = await cowork([...args, '--json'])
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  const result = jsonOf(stdout)
  expect(result).toMatchObject({ schemaVersion: 1 })
  return result
}

function file(name: string, text: string): string {
  const path = join(place.state, name)
  writeFileSync(path, text)
  return path
}

describe('handoffs', () => {
  test('H1, K2 a handoff is listed and shown with the attempts of the agent', async () => {
    const id = await handOver({ domain: 'crm.list', attempted_actions: ['asked \u202e them'] })
    const { code, stdout } = await cowork(['handoff', '--domain', 'crm.list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^[0-9a-f-]{8,} +escalate +sales +crm\.list +\d+s +.*above what I may/m)
    expect(await read('handoff', '--agent', 'sal', '--domain', 'crm.list')).toMatchObject({
      handoffs: [{ id, kind: 'handoff', action: 'escalate' }],
      next: null,
    })
    expect((await cowork(['handoff', '--domain', 'nowhere'])).stdout).toBe('No handoffs.\n')
    const shown = await cowork(['handoff', 'show', id.slice(0, 20)])
    expect(shown.stdout).toContain('• asked U+202E them')
    expect(shown.stdout).toContain('wanted: 0.3')
    expect(await read('handoff', 'show', id)).toMatchObject({ handoff: { overdue: false } })
    expect((await cowork(['inbox', '--list', '--kind', 'handoff'])).stdout).toContain('crm.list')
  })

  test('H2, K3 a person resolves it once, and the agent receives the instructions', async () => {
    const id = await handOver({ domain: 'crm.answer' })
    const resolve = ['handoff', 'resolve', id.slice(0, 20), '--resolution', 'Granted.']
    expect(await cowork(resolve)).toMatchObject({ code: 4, stdout: '' })
    expect((await byHand(resolve, { CLAUDECODE: '1' })).code).toBe(4)
    expect((await byHand(['handoff', 'resolve', id])).code).toBe(2)
    const answered = await byHand([...resolve, '--instructions', 'At most 20 %.'])
    expect(answered.output).toContain('Resolved and handed back to sales.')
    expect(answered.code).toBe(0)
    expect(await asSales('cowork_check_handoff', { domain: 'crm.answer' })).toMatchObject({
      pending_handoffs: [{ handoff_id: id, resolution: 'Granted.', instructions: 'At most 20 %.' }],
    })
    const again = await byHand(resolve)
    expect(again.code).toBe(3)
    const all = await cowork(['handoff', '--all', '--domain', 'crm.answer'])
    expect(all.stdout).toMatch(/^[0-9a-f-]+ +resolved +escalate/m)
    expect((await cowork(['handoff', 'show', id])).stdout).toContain('Resolved by owner (cli)')
    expect(await cowork(['handoff', 'show', await propose()])).toMatchObject({ code: 3 })
    expect((await byHand(['approve', id])).code).toBe(3)
  })

  test('H2 it can stay with the person, and --hand-back needs no instructions', async () => {
    const [kept, back] = [
      await handOver({ domain: 'crm.kept' }),
      await handOver({ domain: 'crm.back' }),
    ]
    const answer = (id: string, ...more: string[]) =>
      byHand(['handoff', 'resolve', id, '--resolution', 'I did it.', ...more])
    expect((await answer(kept)).output).toMatch(/^Resolved\.\r?$/m)
    expect((await answer(back, '--hand-back')).output).toContain('handed back to sales')
    expect(await asSales('cowork_check_handoff', { domain: 'crm.kept' })).toMatchObject({
      count: 0,
    })
    expect(await asSales('cowork_check_handoff', { domain: 'crm.back' })).toMatchObject({
      count: 1,
    })
    expect((await byHand(['approve', await handOver()])).code).toBe(2)
  })

  test('H6 the proposal of a handoff is decided in the same call', async () => {
    const answer = async (...more: string[]) => {
      const about = await propose({ domain: 'crm.both' })
      const id = await handOver({ domain: 'crm.both', proposal_id: about })
      const ended = await byHand(['handoff', 'resolve', id, '--resolution', 'Seen.', ...more])
      return { ...ended, status: (await read('inbox', 'show', about))['status'] }
    }
    expect(await answer('--approve', '--reject', '--type', 'edge_case')).toMatchObject({ code: 2 })
    expect(await answer('--reject')).toMatchObject({ code: 2, status: 'pending' })
    expect(await answer('--type', 'edge_case')).toMatchObject({ code: 2, status: 'pending' })
    const approved = await answer('--approve')
    expect(approved).toMatchObject({ code: 0, status: 'approved' })
    expect(approved.output).toMatch(/Proposal approved, trust 0\.30 → 0\.32\./)
    const rejected = await answer('--reject', '--type', 'agent_wrong', '--reason', 'no')
    expect(rejected).toMatchObject({ code: 0, status: 'rejected' })
  })

  test('H2, K6 r in the inbox prompts for the resolution and instructions', async () => {
    const id = await handOver({ domain: 'crm.keys' })
    const terminal = inTerminal(place, ['inbox', '--domain', 'crm.keys'])
    const sees = async (text: string | RegExp) => {
      await expect.poll(() => terminal.lines().join('\n'), { timeout: 20_000 }).toMatch(text)
    }
    await sees('r resolve')
    terminal.press('a')
    await sees('Press r to resolve it')
    terminal.press('\r')
    await sees('Attempts')
    terminal.press('r')
    await sees('Resolution:')
    terminal.press('Granted.\r')
    await sees(/Instructions \(to hand back\):/)
    terminal.press('At most 20 %.\r')
    await sees('Resolved and handed back to sales.')
    await sees('Inbox is empty.')
    terminal.press('q')
    expect(await terminal.ended()).toMatchObject({ code: 0 })
    expect(await read('inbox', 'show', id)).toMatchObject({ status: 'approved', channel: 'cli' })
  })
})

describe('policies', () => {
  const stricter = rules.replace('max: 20', 'max: 10')

  test('Y6, K3 simulating a proposal exits with 5 if the policies would block it', async () => {
    const tried = ['policy', 'simulate', '--file', file('stricter.yaml', stricter)]
    const about = (discount: number) =>
      JSON.stringify({ agent_id: 'sales', domain: 'crm', proposed_change: { discount } })
    const blocked = await cowork([...tried, '--proposal', about(15)])
    expect(blocked.code).toBe(5)
    expect(blocked.stdout).toMatch(/^escalate→blocked\n/)
    expect(blocked.stdout).toMatch(/hard_stop {2}discount: .*\(rule small\)/)
    const kept = await cowork([...tried, '--proposal', `@${file('one.json', about(5))}`])
    expect(kept).toMatchObject({ code: 0, stdout: expect.stringContaining('escalate, as now') })
    expect(await read(...tried, '--proposal', about(5))).toMatchObject({
      after: { mode: 'escalate' },
    })
    for (const wrong of [
      ['policy', 'simulate'],
      [...tried, '--policy', 'careful'],
      [...tried, '--proposal', '{'],
      ['policy', 'simulate', '--file', file('wrong.yaml', 'polices: []')],
    ])
      expect(await cowork(wrong)).toMatchObject({ code: 2, stdout: '' })
    expect(await cowork(['policy', 'replay', '--file', 'nowhere.yaml'])).toMatchObject({ code: 2 })
  })

  test('Y6 replay lists changed outcomes with examples, also for a JSON file', async () => {
    for (const discount of [5, 15, 16])
      await propose({ domain: 'crm.replay', proposed_change: { discount } })
    const body = {
      policies: [
        {
          id: 'careful',
          rules: [{ id: 'small', field: 'discount', constraint: 'value_range', min: 0, max: 10 }],
        },
      ],
      mappings: [{ agent_id: 'sales', domain: '*', policy_id: 'careful' }],
    }
    const asJson = file('stricter.json', JSON.stringify(body))
    const replay = ['policy', 'replay', '--days', '1', '--file', asJson, '--domain', 'crm.replay']
    const { code, stdout } = await cowork(replay)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^2 escalate→blocked\nReplayed 3 of the last 1 day, 1 unchanged\.\n/)
    expect(stdout).toMatch(/^2 +escalate→blocked +sales +crm\.replay +proposal +update_deal +\d+$/m)
    expect(await read(...replay)).toMatchObject({ replayed: 3, unchanged: 1, skipped: 0 })
    const now = await cowork(['policy', 'replay', '--saved', 'active', '--agent', 'sal'])
    expect(now.stdout).toMatch(/^nothing would change\n/)
    expect(await cowork(['policy', 'replay', '--file', asJson, '--days', '0'])).toMatchObject({
      code: 2,
    })
  })

  test('Y6, I10 a person saves a version; it is listed, shown and compared', async () => {
    const looser = file('looser.yaml', rules.replace('max: 20', 'max: 30'))
    const save = ['policy', 'save', '--file', looser, '--note', 'spring sale']
    expect(await cowork(save)).toMatchObject({ code: 4, stdout: '' })
    expect(await byHand(['policy', 'save', '--file', looser])).toMatchObject({ code: 2 })
    const saved = await byHand([...save, '--from', '0'])
    expect(saved.code).toBe(0)
    expect(saved.output).toMatch(/Effect on the last 30 days: .+\./)
    expect(saved.output).toMatch(/Version \w+ is active\./)
    const { versions, active } = (await read('policy', 'versions')) as {
      active: string
      versions: { version: string; note: string; by: string; number: number }[]
    }
    expect(versions.map(({ number, note, by }) => ({ number, note, by }))).toEqual([
      { number: 1, note: 'spring sale', by: 'owner' },
      { number: 0, note: 'cowork.yaml', by: expect.any(String) },
    ])
    const listed = (await cowork(['policy', 'versions'])).stdout
    expect(listed).toMatch(new RegExp(`^${active} +1 .* owner +saved +active +spring sale$`, 'm'))
    expect((await cowork(['policy', 'versions', active.slice(0, 6)])).stdout).toContain('max: 30')
    const differs = await cowork(['policy', 'diff', '0', 'active'])
    expect(differs.stdout).toMatch(/^- +max: 20\n\+ +max: 30$/m)
    expect(await read('policy', 'diff', '0', '1')).toMatchObject({ changed: true })
    expect((await cowork(['policy', 'diff', '1', '--file', looser])).stdout).toBe(
      'No differences.\n',
    )
    expect(await cowork(['policy', 'diff', '1'])).toMatchObject({ code: 2 })
    expect(await cowork(['policy', 'versions', 'zzz'])).toMatchObject({ code: 3 })
    // Another version was saved after version 0.
    const late = ['policy', 'save', '--file', file('late.yaml', stricter), '--note', 'late']
    expect((await byHand([...late, '--from', '0'])).code).toBe(7)
    const check = ['policy', 'check', 'sales', 'crm', '--field', 'discount', '--value', '25']
    expect((await cowork(check)).code).toBe(0)
  })

  test('Y6 policies that lock agents out are saved with --confirm only', async () => {
    await propose({ domain: 'crm.lock' })
    const nothing = `policies: [{ id: careful, rules: [] }]
mappings: [{ agent_id: nobody, domain: '*', policy_id: careful }]
`
    const save = ['policy', 'save', '--file', file('nothing.yaml', nothing), '--note', 'closed']
    const refused = await byHand(save)
    expect(refused.code).toBe(5)
    expect(refused.output).toContain('--confirm')
    expect(await asSales('cowork_propose', proposal())).toHaveProperty('proposal_id')
    expect((await byHand([...save, '--confirm'])).code).toBe(0)
    expect(await asSales('cowork_propose', proposal())).toMatchObject({ code: 'policy_blocked' })
    const back = ['policy', 'save', '--file', file('back.yaml', rules), '--note', 'back']
    expect((await byHand(back)).code).toBe(0)
  })
})

describe('bulk and report', () => {
  test('B2, K3 all proposals of a domain are approved if their number is the expected one', async () => {
    const domain = 'crm.many'
    const ids = [await propose({ domain }), await propose({ domain }), await propose({ domain })]
    const handoff = await handOver({ domain })
    const approve = ['approve', '--agent', 'sal', '--domain', domain]
    expect(await byHand(['approve'])).toMatchObject({ code: 2 })
    expect(await byHand(approve)).toMatchObject({ code: 2 })
    expect(await byHand([...approve, '--expect', '3', ids[0] ?? ''])).toMatchObject({ code: 2 })
    expect(await byHand([...approve, '--expect', '3', '--change', '{}'])).toMatchObject({ code: 2 })
    expect(await cowork([...approve, '--expect', '3'])).toMatchObject({ code: 4, stdout: '' })
    const fewer = await byHand([...approve, '--expect', '2'])
    expect(fewer.code).toBe(7)
    expect(fewer.output).toContain('3 pending proposals match, not 2. Nothing was decided.')
    expect(fewer.output).toContain('pass their number as --expect')
    const all = await byHand([...approve, '--expect', '3', '--feedback', 'well done'])
    expect(all.code).toBe(0)
    expect(all.output.match(/^approved {2}[0-9a-f-]{36} {2}sales: /gm)).toHaveLength(3)
    expect(all.output).toContain('APPROVED: 3 of 3.')
    for (const id of ids)
      expect(await read('inbox', 'show', id)).toMatchObject({
        status: 'approved',
        reason: 'well done',
      })
    expect(await read('inbox', 'show', handoff)).toMatchObject({ status: 'pending' })
  })

  test('G3, Q1 the report lists findings, recommendations and metrics', async () => {
    const domain = 'crm.report'
    await propose({ domain })
    const id = await propose({ domain })
    await byHand(['reject', id, '--type', 'agent_wrong'])
    // An action without a proposal.
    await asSales('cowork_log', { domain, action: 'update_deal', target: 'deal-9' })
    const scope = ['report', '--days', '7', '--agent', 'sal', '--domain', domain]
    const found = await read(...scope)
    expect(found).toMatchObject({
      interventions: [{ agent_id: 'sales', domain, approvals: 0, overrides: 1 }],
      quality: { n_reviewed: 1, approval_rate: 0, collaboration_score: null },
      period: { start: expect.any(String), end: expect.any(String) },
    })
    const findings = found['findings'] as { title: string; recommendation: string }[]
    const { stdout } = await cowork(scope)
    expect(stdout).toMatch(/^sales +crm\.report +0 +1 +0 +0$/m)
    expect(stdout).toMatch(/^reviewed: +1, 0 % approved \(0 % to \d+ %\)$/m)
    expect(stdout).toMatch(/^overrides: +100 %: 1 agent_wrong medium$/m)
    expect(stdout).toMatch(/^collaboration: +no score before 20 reviews$/m)
    for (const { title, recommendation } of findings) {
      expect(stdout).toContain(title)
      expect(stdout).toContain(`  ${recommendation}`)
    }
    expect(findings.length).toBeGreaterThan(0)
    const quiet = await cowork(['report', '--domain', 'nowhere'])
    expect(quiet).toMatchObject({ code: 0 })
    expect(quiet.stdout).toContain('No findings.')
    expect(await cowork(['report', '--days', 'x'])).toMatchObject({ code: 2 })
  })
})

test('A10, A5 a person can test a channel and bind a chat', async () => {
  const [telegram, ops] = [await startTelegram(), await startReceiver()]
  const app = await startTestApp({
    'notify.channels': [
      telegram.channel('phone'),
      ops.channel('ops'),
      { type: 'slack', id: 'dead', url: 'http://127.0.0.1:9/services/x' },
    ],
  })
  onTestFinished(app.close)
  const env = { PATH: process.env['PATH'], HOME: app.state, COWORK_STATE_DIR: app.state }
  const run = (...args: string[]) => inTerminal({ state: app.state, env }, args).ended()
  const tested = await run('notify', 'test', 'ops')
  expect(tested).toMatchObject({
    code: 0,
    output: expect.stringContaining('ops accepted the test notification'),
  })
  expect(ops.got).toHaveLength(1)
  const dead = await run('notify', 'test', 'dead')
  expect(dead.code).toBe(1)
  expect(dead.output).toMatch(/dead did not accept the test notification: .+/)
  expect(await run('notify', 'test', 'nowhere')).toMatchObject({ code: 3 })
  const bound = await run('notify', 'bind', 'phone')
  expect(bound.code).toBe(0)
  expect(bound.output).toMatch(/Send \/start \S+ to the bot/)
  const asJson = await run('notify', 'bind', 'phone', '--json')
  expect(jsonOf(asJson.output)).toMatchObject({
    schemaVersion: 1,
    code: expect.any(String),
    expires_at: expect.any(String),
  })
  expect(await run('notify', 'bind', 'ops')).toMatchObject({ code: 3 })
})

test('I10 a script cannot test or bind', async () => {
  for (const verb of ['test', 'bind'])
    expect(await cowork(['notify', verb, 'x'])).toMatchObject({ code: 4, stdout: '' })
})

test('K1 bash completes the newer commands', async () => {
  const script = join(place.state, 'cowork.bash')
  writeFileSync(script, (await cowork(['completion', 'bash'])).stdout)
  const line = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cowork; echo "\${COMPREPLY[*]}"`
  const complete = (...words: string[]) =>
    execFileSync('bash', ['-c', line, 'bash', 'cowork', ...words], { encoding: 'utf8' }).trim()
  expect(complete('hand')).toBe('handoff')
  expect(complete('handoff', 're')).toBe('resolve')
  expect(complete('handoff', 'resolve', 'x', '--type', 'agent')).toBe('agent_wrong')
  expect(complete('policy', 's')).toBe('simulate save')
  expect(complete('policy', 'save', '--conf')).toBe('--confirm')
  expect(complete('notify', 'b')).toBe('bind')
  expect(complete('rep')).toBe('report')
  expect(complete('inbox', '--kind', 'hand')).toBe('handoff')
})
