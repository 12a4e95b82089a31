// Agents over MCP and a person who opens each request before deciding: the effects of the rules (T11, T14).
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { statePaths } from '../src/base/state.ts'
import {
  applyCleanCheck,
  applyWrongAlone,
  checkRate,
  computeDraw,
} from '../src/governance/rules/standing.ts'
import type { TrustStanding } from '../src/governance/rules/standing.ts'
import { loadOrCreateKey } from '../src/ledger/key-file.ts'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { configure, startDaemon } from './daemon.ts'

type Place = { readonly url: string; readonly mcpUrl: string; readonly owner: string }
type Json = Record<string, unknown>
type Item = { id: string; look_back?: string; status: string }

const rules = { price: 50, maxUnread: 6, checkRate: 0.1 }
const proven: TrustStanding = { credit: 25, strikes: 0, clean: 0 }
const wrong = { decision: 'reject', override: { type: 'agent_wrong', description: 'wrong deal' } }

/** Actions of a person over the API. */
function reviewer({ url, owner }: Place) {
  async function ask(path: string, body?: object): Promise<Json> {
    const reply = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    expect(reply.status, path).toBe(200)
    return (await reply.json()) as Json
  }
  const call = async (tool: string, args: object) =>
    (await ask(`/api/tools/${tool}/call`, { arguments: args }))['output'] as Json
  const open = (id: string) => ask(`/api/approvals/${id}`)
  const waiting = async (agent: string, kind: string, status = 'pending') =>
    (await ask(`/api/approvals?agent=${agent}&kind=${kind}&status=${status}&limit=200`))[
      'items'
    ] as Item[]
  return {
    call,
    open,
    waiting,
    /** Opens the item first: only opened items count. */
    async answer(id: string, body: object = { decision: 'approve' }): Promise<Json> {
      await open(id)
      const { output } = await ask(`/api/approvals/${id}/decide`, body)
      const [outcome = {}] = (output as { outcomes: Json[] }).outcomes
      return outcome
    },
    /** Checked autonomous actions, by proposal id. */
    async checked(agent: string): Promise<string[]> {
      const found = await waiting(agent, 'spot_check', 'all')
      const opened = await Promise.all(found.map(({ id }) => open(id)))
      return opened.map(({ check }) => String((check as Json)['proposal'])).toSorted()
    },
    async standing(agent: string): Promise<Json> {
      const { standings } = await call('cowork_standing', { agent_id: agent, domain: 'crm' })
      const [{ classes } = { classes: [] }] = standings as { classes: Json[] }[]
      return classes.find(({ risk }) => risk === 'normal') ?? {}
    },
  }
}
type Reviewer = ReturnType<typeof reviewer>

async function connect(place: Place, { call }: Reviewer, id: string) {
  const { token } = await call('cowork_add_agent', { id })
  const client = new Client({ name: 'worker', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${String(token)}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(place.mcpUrl), { requestInit }))
  let count = 0
  return {
    client,
    async propose(): Promise<{ id: string; mode: unknown }> {
      const args = proposal({ target: `deal-${count++}` })
      const { structuredContent } = await client.callTool({
        name: 'cowork_propose',
        arguments: args,
      })
      const result = structuredContent as Json
      return { id: String(result['proposal_id']), mode: result['mode'] }
    },
  }
}
type Agent = Awaited<ReturnType<typeof connect>>

/** Makes requests that are all correct. */
async function earn({ propose }: Agent, { answer }: Reviewer, count = 25): Promise<unknown[]> {
  const modes: unknown[] = []
  for (let n = 0; n < count; n++) {
    const { id, mode } = await propose()
    modes.push(mode)
    expect(await answer(id)).toMatchObject({ status: 'approved' })
  }
  return modes
}

const drawsOf = (state: string) => {
  const key = loadOrCreateKey(statePaths(state), undefined).derive('spot checks')
  return (id: string) => computeDraw(key, id)
}

const free = { 'authority.volume_cap': 0, 'authority.agent_volume_cap': 0 }

describe('an agent and its reviewer', () => {
  let app: TestApp
  let person: Reviewer
  let draw: (id: string) => number
  beforeAll(async () => {
    app = await startTestApp(free)
    person = reviewer(app)
    draw = drawsOf(app.state)
  })
  afterAll(() => app.close())

  async function enter(id: string): Promise<Agent> {
    const agent = await connect(app, person, id)
    onTestFinished(() => agent.client.close())
    return agent
  }

  /** The check of the last action, opened a moment after the reply. */
  async function nextCheck(agent: string): Promise<string> {
    await expect.poll(() => person.waiting(agent, 'spot_check')).toHaveLength(1)
    return (await person.waiting(agent, 'spot_check'))[0]?.id ?? ''
  }

  test('T11 T14 an honest agent opens the gate, is checked less and less, and a look-back restores it', async () => {
    const agent = await enter('honest')
    const asked = await earn(agent, person)
    expect(asked).not.toContain('act')
    let standing = proven
    const alone: string[] = []
    const drawn: string[] = []
    while (standing.clean < 5 || alone.length - drawn.length < 12) {
      const { id, mode } = await agent.propose()
      expect(mode).toBe('act')
      alone.push(id)
      if (draw(id) >= checkRate(rules, standing)) continue
      drawn.push(id)
      expect(await person.answer(await nextCheck('honest'))).toMatchObject({ status: 'approved' })
      standing = applyCleanCheck(standing)
    }
    expect(await person.checked('honest')).toEqual(drawn.toSorted())
    expect(await person.standing('honest')).toMatchObject({
      level: 'autonomous',
      checks: { rate: 0.1, unread: 0 },
    })

    // A mistake is found later, in an unreviewed action.
    const unseen = alone.filter((id) => !drawn.includes(id))
    await person.call('cowork_override', {
      agent_id: 'honest',
      domain: 'crm',
      proposal_id: unseen[0],
      action_description: 'wrote to the wrong deal',
      override_type: 'agent_wrong',
      description: 'It was the other one.',
    })
    expect(await person.standing('honest')).toMatchObject({
      level: 'supervised',
      cause: 'mistake',
      credit: { now: -25 },
      strikes: { now: 1 },
      checks: { look_back: 10 },
    })
    const rows = await person.waiting('honest', 'spot_check')
    expect(new Set(rows.map(({ look_back: id }) => id)).size).toBe(1)
    for (const [at, { id }] of rows.entries()) {
      const { mode } = await agent.propose()
      expect(mode, `after ${at} rows`).not.toBe('act')
      await person.answer(id)
    }
    expect(await person.standing('honest')).toMatchObject({ credit: { now: 25 } })
    expect((await agent.propose()).mode).toBe('act')
  })

  test('T14 an agent that is correct in requests and wrong alone slips only undrawn actions, once', async () => {
    const agent = await enter('strategic')
    await earn(agent, person)
    const slipped: string[] = []
    for (let isFound = false; !isFound;) {
      const { id, mode } = await agent.propose()
      expect(mode).toBe('act')
      slipped.push(id)
      isFound = draw(id) < 0.5
    }
    let standing = proven
    const debts: number[] = []
    const found = async (id: string) => {
      const outcome = await person.answer(id, wrong)
      standing = applyWrongAlone(rules, standing, 1)
      debts.push(standing.credit)
      expect(await person.standing('strategic')).toMatchObject({
        level: expect.not.stringMatching('autonomous'),
        credit: { now: standing.credit },
        strikes: { now: standing.strikes },
      })
      return outcome
    }
    const others = Math.min(10, slipped.length - 1)
    const first = await found(await nextCheck('strategic'))
    expect(first['look_back'] ?? 0).toBe(others)
    for (const { id } of await person.waiting('strategic', 'spot_check')) await found(id)
    expect(debts).toEqual([-25, -125, -325, -725, -800].slice(0, others + 1))
    // Correct requests reduce the debt by only one each.
    const modes = await earn(agent, person, 20)
    expect(modes).not.toContain('act')
    expect(await person.standing('strategic')).toMatchObject({
      credit: { now: standing.credit + 20 },
      strikes: { now: standing.strikes },
    })
    expect(await person.checked('strategic')).toHaveLength(others + 1)
  })

  test('T14 an agent whose checks are unread stops after the sixth', async () => {
    const agent = await enter('unread')
    await earn(agent, person)
    const drawn: string[] = []
    for (;;) {
      const { id, mode } = await agent.propose()
      if (mode !== 'act') break
      expect(drawn.length).toBeLessThan(6)
      if (draw(id) < 0.5) drawn.push(id)
    }
    expect(drawn).toHaveLength(6)
    await expect.poll(() => person.checked('unread')).toEqual(drawn.toSorted())
    expect(await person.standing('unread')).toMatchObject({ level: 'supervised', cause: 'unread' })
    await person.answer((await person.waiting('unread', 'spot_check'))[0]?.id ?? '')
    expect((await agent.propose()).mode).toBe('act')
  })
})

test('T10 T14 a drawn action is checked although the daemon was killed right after the reply', async () => {
  const state = mkdtempSync(join(tmpdir(), 'cowork-killed-'))
  configure(state)
  const start = async () => {
    const daemon = await startDaemon(state)
    onTestFinished(() => daemon.kill('SIGKILL'))
    const url = `http://localhost:${daemon.port}`
    const place = { url, mcpUrl: `${url}/mcp`, owner: daemon.owner }
    return { daemon, place, person: reviewer(place) }
  }
  const { daemon, place, person } = await start()
  const agent = await connect(place, person, 'worker')
  const known = { agent_id: 'worker', domain: 'crm', score: 0.9, reason: 'known from before' }
  await person.call('cowork_set_trust', known)
  const draw = drawsOf(state)
  const isDrawn = ({ id }: { id: string }) => draw(id) < 0.5
  let done: { id: string; mode: unknown }[] = []
  while (!done.some(isDrawn)) done = await Promise.all(Array.from({ length: 6 }, agent.propose))
  await daemon.kill('SIGKILL')
  const alone = done.filter(({ mode }) => mode === 'act')
  expect(alone.some(isDrawn)).toBe(true)
  const again = await start()
  const drawn = alone.filter(isDrawn).map(({ id }) => id)
  expect(await again.person.checked('worker')).toEqual(drawn.toSorted())
  await again.daemon.kill('SIGTERM')
})
