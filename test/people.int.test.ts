import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { approvalMigrations } from '../src/approvals/index.ts'
import { migrate } from '../src/base/db/migrate.ts'
import { noSealer } from '../src/base/db/port.ts'
import { openSqlite } from '../src/base/db/sqlite.ts'
import { sha256Hex } from '../src/base/hash.ts'
import { identityMigrations } from '../src/identity/index.ts'
import { ledgerMigrations } from '../src/ledger/index.ts'
import { createAuthenticator } from './identity/passkeys/passkeys.fixture.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { testPlace } from './cli.ts'

let app: TestApp
let here: ReturnType<typeof createConsole>
beforeAll(async () => {
  app = await startTestApp()
  here = createConsole(app)
})
afterAll(() => app.close())

type Reply<T> = { status: number; body: T & { error?: { code: string; hint?: string } } }
type Request = { token?: string; body?: object; method?: string }
type Link = { link: string; expires_at: string }
type Opened = {
  token: string
  session: { id: string; person: { id: string; name: string; role: string }; expires_at: string }
}

const parseCode = (link: string) => link.split('=').at(-1) ?? ''

/** Calls the API of a daemon like the console. */
function createConsole(to: TestApp) {
  async function api<T = object>(
    path: string,
    { token, body, method = body ? 'POST' : 'GET' }: Request = {},
  ): Promise<Reply<T>> {
    const reply = await fetch(`${to.url}${path}`, {
      method,
      headers: {
        'user-agent': 'Firefox 140',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: reply.status, body: (await reply.json()) as Reply<T>['body'] }
  }
  const call = <T>(tool: string, args: object = {}, token = to.owner) =>
    api<{ output: T }>(`/api/tools/${tool}/call`, { token, body: { arguments: args } })
  async function output<T>(tool: string, args?: object, token?: string): Promise<T> {
    const { status, body } = await call<T>(tool, args, token)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.output
  }
  const signIn = (link: string) => api<Opened>('/api/sessions', { body: { code: parseCode(link) } })
  return {
    api,
    output,
    signIn,
    /** Returns the error code, or undefined. */
    fault: async (tool: string, args: object, token: string) =>
      (await call(tool, args, token)).body.error?.code,
    open: async (token?: string) =>
      (await signIn((await output<Link>('cowork_open_link', {}, token)).link)).body,
    join: async (name: string, role: string) =>
      (await signIn((await output<Link>('cowork_invite_person', { name, role })).link)).body,
  }
}

describe('links and sessions', () => {
  test('SV2 the startup link works once, and the second use returns the next step', async () => {
    expect(app.banner[1]).toMatch(
      new RegExp(`^  Console  http://localhost:${app.port}/#code=[\\w-]{43}$`),
    )
    const link = app.banner[1] ?? ''
    const first = await here.signIn(link)
    expect(first).toMatchObject({
      status: 201,
      body: {
        token: expect.stringMatching(/^ps-cowork-[0-9a-f]{48}$/),
        session: {
          id: expect.any(String),
          person: { id: 'owner', name: 'Owner', role: 'owner' },
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
      },
    })
    expect(await here.signIn(link)).toMatchObject({
      status: 410,
      body: { error: { code: 'used_link', hint: expect.stringContaining('cowork open') } },
    })
  })

  test('I6 expired and unknown links are refused', async () => {
    let at = Date.now()
    const later = await startTestApp({}, { now: () => at })
    onTestFinished(later.close)
    const { signIn } = createConsole(later)
    at += 5 * 60_000
    expect(await signIn(later.banner[1] ?? '')).toMatchObject({
      status: 410,
      body: { error: { code: 'expired_link' } },
    })
    expect(await signIn('#code=nonsense')).toMatchObject({
      status: 401,
      body: { error: { code: 'unknown_link' } },
    })
  })

  test('I6 the code is accepted only in the body', async () => {
    const { link } = await here.output<Link>('cowork_open_link')
    const code = parseCode(link)
    for (const body of [{}, { code: '' }, { code: 1 }, { code, more: 1 }, { codes: code }])
      expect((await here.api('/api/sessions', { body })).status).toBe(400)
    const asked = await here.api(`/api/sessions?code=${code}`, { body: { code } })
    expect(asked.body.error?.code).toBe('secret_in_url')
    expect((await here.signIn(link)).status).toBe(201)
  })

  test('SV21 a foreign origin or host cannot open a session', async () => {
    const { link } = await here.output<Link>('cowork_open_link')
    const send = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          { host: '127.0.0.1', port: app.port, path: '/api/sessions', method: 'POST', headers },
          (reply) => resolve(reply.resume().statusCode ?? 0),
        )
        sent.on('error', reject)
        sent.end(JSON.stringify({ code: parseCode(link) }))
      })
    const host = `localhost:${app.port}`
    const json = { 'content-type': 'application/json' }
    expect(await send({ ...json, host: 'evil.example' })).toBe(403)
    expect(await send({ ...json, host, origin: 'http://localhost:1' })).toBe(403)
    expect(await send({ ...json, host, origin: 'null' })).toBe(403)
    expect(await send({ ...json, host, 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await send({ host, 'content-type': 'text/plain' })).toBe(415)
    expect((await here.signIn(link)).status).toBe(201)
  })

  test('I6 GET /api/session returns the person, and DELETE signs out', async () => {
    const { token, session } = await here.open()
    expect(await here.api('/api/session', { token })).toEqual({
      status: 200,
      body: { person: session.person, session, has_passkey: false, home: homedir() },
    })
    expect(await here.api('/api/session', { token: app.owner })).toEqual({
      status: 200,
      body: { person: session.person, has_passkey: false, home: homedir() },
    })
    expect((await here.api('/api/session', { token, method: 'DELETE' })).body).toEqual({
      ended: true,
    })
    for (const method of ['GET', 'DELETE'])
      expect(await here.api('/api/session', { token, method })).toMatchObject({
        status: 401,
        body: { error: { code: 'auth_error', hint: expect.stringContaining('cowork open') } },
      })
    const none = await here.api('/api/session', { token: app.owner, method: 'DELETE' })
    expect(none.status).toBe(404)
    expect((await here.api('/api/session', {})).status).toBe(401)
  })

  test('I6 a revoked session is refused on its next request', async () => {
    const { token, session } = await here.open()
    expect(await here.output('cowork_status', {}, token)).toMatchObject({
      caller: { kind: 'human', id: 'owner', session: session.id },
    })
    const { sessions } = await here.output<{ sessions: object[] }>(
      'cowork_list_sessions',
      {},
      token,
    )
    expect(sessions).toContainEqual(
      expect.objectContaining({ id: session.id, current: true, user_agent: 'Firefox 140' }),
    )
    await here.output('cowork_revoke_session', { session: session.id })
    expect((await here.api('/api/session', { token })).status).toBe(401)
  })

  test('A3 a session token is refused on MCP, a forged one everywhere', async () => {
    const { token } = await here.open()
    const mcp = await fetch(app.mcpUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
    expect(mcp.status).toBe(403)
    expect(await mcp.text()).toContain('person_token_on_mcp')
    for (const forged of [`ps-cowork-${'0'.repeat(48)}`, `${token}0`, token.slice(0, -1)])
      expect((await here.api('/api/session', { token: forged })).status).toBe(401)
  })

  test('L3 the ledger and the state directory contain no code or token', async () => {
    const { link } = await here.output<Link>('cowork_open_link')
    const { token } = (await here.signIn(link)).body
    const text = JSON.stringify(await here.api('/api/ledger?limit=1000&payloads=true', { token }))
    expect(text).toContain('session.opened')
    const files = readdirSync(app.state, { withFileTypes: true }).filter((file) => file.isFile())
    const stored = files.map(({ name }) => readFileSync(join(app.state, name), 'latin1'))
    expect(stored.join()).toContain(sha256Hex(token))
    for (const secret of [parseCode(link), token, parseCode(app.banner[1] ?? '')])
      for (const place of [text, ...stored]) expect(place.includes(secret)).toBe(false)
  })
})

describe('roles', () => {
  test('I6 a viewer only reads; a reviewer decides but cannot manage people and agents', async () => {
    const viewer = (await here.join('Vera', 'viewer')).token
    const reviewer = (await here.join('Rolf', 'reviewer')).token
    const second = (await here.join('Olga', 'owner')).token
    for (const token of [viewer, reviewer, second]) {
      await here.output('cowork_status', {}, token)
      await here.output('cowork_list_people', {}, token)
      await here.output('cowork_list_agents', {}, token)
    }
    expect(await here.fault('cowork_halt', {}, viewer)).toBe('role_required')
    expect(await here.fault('cowork_log', { domain: 'd', action: 'a', target: 't' }, viewer)).toBe(
      'role_required',
    )
    await here.output('cowork_halt', {}, reviewer)
    await here.output('cowork_resume', {}, reviewer)
    for (const [tool, args] of [
      ['cowork_invite_person', { name: 'Eve', role: 'owner' }],
      ['cowork_set_role', { person: 'rolf', role: 'owner' }],
      ['cowork_remove_person', { person: 'vera' }],
      ['cowork_withdraw_invitation', { invitation: 'x' }],
      ['cowork_add_agent', { id: 'mine' }],
      ['cowork_set_tools', { id: 'mine', tools: ['all'] }],
      ['cowork_rotate_agent', { id: 'mine' }],
      ['cowork_revoke_agent', { id: 'mine' }],
    ] as const)
      for (const token of [viewer, reviewer])
        expect(await here.fault(tool, args, token), tool).toBe('role_required')
    await here.output('cowork_set_role', { person: 'rolf', role: 'viewer' }, second)
    expect(await here.fault('cowork_halt', {}, reviewer)).toBe('role_required')
    await here.output('cowork_remove_person', { person: 'vera' }, second)
    expect((await here.api('/api/session', { token: viewer })).status).toBe(401)
    for (const token of [second, app.owner])
      expect(await here.fault('cowork_remove_person', { person: 'owner' }, token)).toBe(
        'last_owner',
      )
    expect(
      (await here.api('/api/tools/cowork_halt/call', { token: reviewer, body: {} })).status,
    ).toBe(403)
  })

  test('A3 an agent cannot have a session, invite people or add a passkey', async () => {
    const closed = await startTestApp()
    onTestFinished(closed.close)
    const { api, output, fault } = createConsole(closed)
    const { token } = await output<{ token: string }>('cowork_add_agent', { id: 'sales' })
    expect((await api('/api/session', { token })).body.error?.code).toBe('human_required')
    for (const body of [{ for: 'register' }, { for: 'assert' }])
      expect((await api('/api/passkeys/challenge', { token, body })).status).toBe(403)
    expect(await fault('cowork_open_link', {}, token)).toBe('human_required')
    const invitation = { name: 'Eve', role: 'owner' }
    expect(await fault('cowork_invite_person', invitation, token)).toBe('human_required')
  })
})

describe('passkeys', () => {
  type Asked = { challenge: string; rp_id: string; allow: string[]; user: { id: string } }
  const text = (bytes: Buffer) => bytes.toString('base64url')

  async function ask(token: string, purpose: 'register' | 'assert') {
    return here.api<Asked>('/api/passkeys/challenge', { token, body: { for: purpose } })
  }
  type Key = ReturnType<typeof createAuthenticator>
  async function register(token: string, key: Key) {
    const made = key.create((await ask(token, 'register')).body.challenge ?? '')
    return here.api<{ id: string }>('/api/passkeys', {
      token,
      body: {
        id: made.id,
        public_key: text(made.publicKey),
        algorithm: made.algorithm,
        authenticator_data: text(made.authenticatorData),
        client_data: text(made.clientData),
        name: 'Laptop',
      },
    })
  }
  async function assert(token: string, key: Key, challenge?: string) {
    const asked = challenge ?? (await ask(token, 'assert')).body.challenge
    const shown = key.get(asked)
    return here.api<{ assured_until: string }>('/api/passkeys/assert', {
      token,
      body: {
        id: shown.id,
        authenticator_data: text(shown.authenticatorData),
        client_data: text(shown.clientData),
        signature: text(shown.signature),
      },
    })
  }

  test('I6 high-risk calls require the passkey in the console and in the CLI', async () => {
    const { token } = await here.join('Petra', 'owner')
    const origin = `http://localhost:${app.port}`
    const key = createAuthenticator({ origin })
    const add = (id: string) => here.fault('cowork_add_agent', { id }, token)
    expect(await add('before')).toBeUndefined()
    expect((await ask(token, 'assert')).status).toBe(404)
    expect((await ask(token, 'register')).body).toMatchObject({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rp_id: 'localhost',
      user: { name: 'petra', display_name: 'Petra' },
      algorithms: [-7, -8, -257],
      allow: [],
    })
    expect(
      await register(token, createAuthenticator({ origin: 'http://localhost:1' })),
    ).toMatchObject({
      status: 403,
      body: { error: { code: 'passkey_refused', reason: 'wrong_origin' } },
    })
    expect(await register(token, key)).toMatchObject({ status: 201, body: { id: key.id } })

    expect(await add('waits')).toBe('passkey_required')
    expect((await here.api('/api/session', { token })).body).toMatchObject({ has_passkey: true })
    expect((await ask(token, 'assert')).body.allow).toEqual([key.id])
    const shown = await assert(token, key)
    expect(shown.status).toBe(200)
    expect((await here.api('/api/session', { token })).body).toMatchObject(shown.body)
    expect(await add('assured')).toBeUndefined()
    const other = (await here.open(token)).token
    expect(await here.fault('cowork_add_agent', { id: 'other' }, other)).toBe('passkey_required')
    expect((await register(other, createAuthenticator({ origin }))).body.error?.code).toBe(
      'passkey_required',
    )
    const { passkeys } = await here.output<{ passkeys: object[] }>(
      'cowork_list_passkeys',
      {},
      token,
    )
    expect(passkeys).toContainEqual(expect.objectContaining({ id: key.id, person: 'petra' }))
    await here.output('cowork_remove_passkey', { id: key.id }, token)
    expect(await add('after')).toBeUndefined()
  })

  test("I10 high-risk calls with the owner's token are refused once the owner has a passkey", async () => {
    const { token } = await here.open()
    const key = createAuthenticator({ origin: `http://localhost:${app.port}` })
    expect((await ask(app.owner, 'register')).body.error?.code).toBe('session_required')
    await register(token, key)
    const refused = await here.api('/api/tools/cowork_add_agent/call', {
      token: app.owner,
      body: { arguments: { id: 'x' } },
    })
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { code: 'passkey_required', hint: expect.stringContaining('cowork open') } },
    })
    await here.output('cowork_halt')
    await here.output('cowork_resume')
    await assert(token, key)
    await here.output('cowork_remove_passkey', { id: key.id }, token)
    await here.output('cowork_add_agent', { id: 'x' })
  })

  test('I6 RS10 a high-risk decision needs its own confirmation', async () => {
    const { token } = await here.join('Rosa', 'reviewer')
    const key = createAuthenticator({ origin: `http://localhost:${app.port}` })
    await register(token, key)
    const { token: agent } = await here.output<{ token: string }>('cowork_add_agent', {
      id: 'seller',
    })
    const propose = (target: string) =>
      here.output<{ proposal_id: string }>(
        'cowork_propose',
        {
          domain: 'crm',
          action: 'update',
          target,
          proposed_change: { deal_stage: 'won' },
          confidence: 0.9,
          reasoning: 'x',
        },
        agent,
      )
    const [one, two] = [await propose('deal-1'), await propose('deal-2')]
    const decide = ({ proposal_id: id }: { proposal_id: string }) =>
      here.api<{ outcomes?: object[]; error?: { decision?: string } }>(
        '/api/tools/cowork_decide/call',
        { token, body: { arguments: { approval_ids: [id], decision: 'approve' } } },
      )
    const confirm = async (decision: string | undefined) => {
      const body = { for: 'assert', ...(decision && { decision }) }
      const { challenge } = (await here.api<Asked>('/api/passkeys/challenge', { token, body })).body
      expect((await assert(token, key, challenge)).status).toBe(200)
    }
    await confirm(undefined)
    const refused = await decide(one)
    expect(refused.body.error?.code).toBe('passkey_required')
    await confirm(refused.body.error?.decision)
    expect((await decide(two)).body.error?.code).toBe('passkey_required')
    expect((await decide(one)).status).toBe(200)
    expect((await here.api(`/api/approvals/${one.proposal_id}`, { token })).body).toMatchObject({
      status: 'approved',
      channel: 'console',
    })
    expect((await here.api(`/api/approvals/${two.proposal_id}`, { token })).body).toMatchObject({
      status: 'pending',
    })
  })

  test('I6 a challenge is valid once, and responses without one are refused', async () => {
    const { token } = await here.join('Quinn', 'viewer')
    const key = createAuthenticator({ origin: `http://localhost:${app.port}` })
    await register(token, key)
    const { challenge } = (await ask(token, 'assert')).body
    expect((await assert(token, key, challenge)).status).toBe(200)
    expect((await assert(token, key, challenge)).body.error).toMatchObject({
      code: 'passkey_refused',
      reason: 'not_asked',
    })
    for (const body of [{}, { id: key.id }, { id: 'ä', authenticator_data: '', client_data: '' }])
      expect((await here.api('/api/passkeys/assert', { token, body })).status).toBe(400)
  })
})

describe('startup', () => {
  test('SV2 up -d prints the link, and neither log nor ledger contains it', async () => {
    const { cowork, paths, daemon } = testPlace()
    const { stdout } = await cowork(['up', '-d'])
    const [, link = ''] = /^ {2}Console {2}(http:\S+)$/m.exec(stdout) ?? []
    expect(link).toMatch(new RegExp(`^http://localhost:${daemon().port}/#code=[\\w-]{43}$`))
    const opened = await fetch(`http://localhost:${daemon().port}/api/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: parseCode(link) }),
    })
    expect(opened.status).toBe(201)
    const ledger = await cowork(['audit', 'tail', '--json', '-n', '100'])
    expect(ledger.stdout).toContain('link.made')
    for (const place of [readFileSync(paths.log, 'utf8'), ledger.stdout])
      expect(place).not.toContain(parseCode(link))
  })

  test('SV8 a state directory without people gets the owner', async () => {
    const state = mkdtempSync(join(tmpdir(), 'cowork-before-'))
    const db = openSqlite(join(state, 'cowork.db'), noSealer)
    const all = [...ledgerMigrations, ...identityMigrations, ...approvalMigrations]
    const before = all.filter(({ name }) => name.endsWith('-001'))
    await migrate(db, before, 0)
    await db.close()
    const after = await startTestApp({}, { state })
    onTestFinished(after.close)
    expect(await createConsole(after).output('cowork_list_people')).toMatchObject({
      people: [{ id: 'owner', role: 'owner' }],
    })
  })
})
