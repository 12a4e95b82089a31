import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createAuthenticator } from './identity/passkeys/passkeys.fixture.ts'
import { proposal } from './acts.ts'
import { startTestApp } from './app.ts'
import { testPlace } from './cli.ts'
import { inTerminal } from './terminal.ts'

type Played = {
  readonly agent: string
  readonly trust: number
  readonly mode: string
  readonly approved: number
  readonly overridden: number
  readonly blocked: number
  readonly acted: number
  readonly checked: number
  readonly owed: { readonly kind: string; readonly to_go: number }[]
  readonly left: number
}
type Report = {
  readonly agents: Played[]
  readonly policies: { version: string; number: number; from: string } | null
}
type Versions = { readonly active: string; readonly versions: { version: string; note: string }[] }
type Replayed = { readonly summary: string; readonly replayed: number }
type Entry = {
  readonly type: string
  readonly domain?: string
  readonly data?: { policy_version?: string; shadow?: { policy_id: string; would: string } }
}

const demo = ['demo', '--proposals', '30', '--pace', '0', '--json']
const short = ['demo', '--proposals', '8', '--pace', '0', '--json']

async function started(config = '') {
  const place = testPlace(config)
  expect(await place.cowork(['up', '-d'])).toMatchObject({ code: 0 })
  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await place.cowork([...args, '--json'])).stdout) as T
  const play = async (args: string[]): Promise<Report> => {
    const { code, stdout, stderr } = await place.cowork(args)
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout) as Report
  }
  return { ...place, json, play }
}

test('K7 agents of different quality earn different autonomy, and some proposals stay pending', async () => {
  const { cowork, json, play } = await started()
  const { agents } = await play(demo)
  const [careful, steady, hasty] = agents
  expect(careful).toMatchObject({ agent: 'demo-careful', mode: 'act', overridden: 0, blocked: 0 })
  expect(careful?.acted).toBeGreaterThan(0)
  expect(careful).toMatchObject({ level: 'autonomous', reason: 'one in two is checked' })
  // An error in one kind of action does not affect the others.
  expect(steady?.owed.length).toBeGreaterThan(0)
  expect(steady?.overridden).toBeGreaterThan(0)
  expect(steady).toMatchObject({ blocked: 0 })
  expect(hasty?.trust).toBeLessThan(0.5)
  expect(hasty?.blocked).toBeGreaterThan(0)
  const { items } = await json<{ items: { kind: string; domain: string }[] }>('inbox')
  const requests = items.filter(({ kind }) => kind !== 'spot_check')
  expect(requests).toHaveLength((steady?.left ?? 0) + (hasty?.left ?? 0) + 1)
  expect(items.filter(({ kind }) => kind === 'handoff')).toHaveLength(1)
  type Stories = { items: { claimed_by?: string }[] }
  const list = ['work', '--project', 'demo-fair', 'list', '--kind', 'story']
  const { items: stories } = await json<Stories>(...list)
  expect(stories.flatMap(({ claimed_by: agent }) => agent ?? [])).toEqual([
    'demo-steady',
    'demo-careful',
  ])
  expect(items.every(({ domain }) => domain.startsWith('demo.'))).toBe(true)
  // Pending spot checks are for the person, and separate from requests.
  const { stdout } = await cowork(['trust', 'demo-careful', 'demo.contacts'])
  expect(stdout).toMatch(/^NORMAL RISK {2}Autonomous: one in two is checked$/m)
})

test('K7 T14 the demo reviewer decides spot checks, so that the careful agent stays autonomous', async () => {
  const { play } = await started('trust: { spot_check_rate: 0.2 }')
  const { agents } = await play(['demo', '--proposals', '42', '--pace', '60', '--json'])
  const [careful] = agents
  // Every action is checked: six undecided checks would have closed the gate.
  expect(careful?.acted).toBeGreaterThan(8)
  expect(careful?.checked).toBeGreaterThan(4)
  expect(careful).toMatchObject({ found: 0 })
})

test('K7 C4 Y6 saves policies in two versions, one in shadow mode, and its agents work under them', async () => {
  const { cowork, json, play, ...place } = await started('trust: { spot_check_rate: 0 }')
  const { policies } = await play(demo)
  const { active, versions } = await json<Versions>('policy', 'versions')
  expect(versions.map(({ note }) => note)).toEqual([
    'Deals are assigned by people',
    'Rules for the agents of the demo',
    'cowork.yaml',
  ])
  expect(policies).toEqual({ version: active, number: 2, from: versions[2]?.version })
  expect(await json('policy', 'diff', '1', '2')).toMatchObject({ changed: true })
  const listed = await json<{ policies: { id: string; mode: string }[] }>('policy', 'list')
  expect(listed.policies.filter(({ mode }) => mode === 'shadow')).toMatchObject([
    { id: 'demo-tickets' },
  ])

  const text = (await cowork(['audit', 'tail', '-n', '1000', '--json'])).stdout
  const entries = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry)
  const made = entries.filter(({ type }) => type === 'proposal.created')
  const under = new Set(made.map(({ data }) => data?.policy_version))
  expect(under).toEqual(new Set([versions[0]?.version, versions[1]?.version]))
  const tried = made.filter(({ data }) => data?.shadow?.would === 'blocked')
  expect(tried.length).toBeGreaterThan(0)
  expect(new Set(tried.map(({ domain }) => domain))).toEqual(new Set(['demo.tickets']))

  // The history shows the changes, and they can be reverted as printed.
  const then = await json<Replayed>('policy', 'replay', '--saved', '0')
  // And the calls on files and work items.
  expect(then.replayed).toBe(90 + 7 + 13)
  expect(then.summary).toMatch(/blocked→/)
  const now = await json<Replayed>('policy', 'replay', '--saved', '2')
  expect(now.summary).toMatch(/→blocked/)
  const before = join(place.state, 'before.yaml')
  writeFileSync(before, (await cowork(['policy', 'versions', '0'])).stdout)
  const save = ['policy', 'save', '--file', before, '--note', 'without the demo']
  expect((await inTerminal(place, save).ended()).code).toBe(0)
  expect(await json('policy', 'list')).toMatchObject({ policies: [], mappings: [] })
})

test('K7 prints what it saved and how to restore, and saves nothing the second time', async () => {
  const { cowork, json, play } = await started()
  const first = await cowork(short.slice(0, -1))
  expect(first.stderr).toContain('Saved policies as version')
  const { versions } = await json<Versions>('policy', 'versions')
  const back = versions.at(-1)?.version.slice(0, 8)
  expect(first.stderr).toContain(`cowork policy versions ${back} > before.yaml`)
  expect((await play(short)).policies).toBeNull()
  expect((await json<Versions>('policy', 'versions')).versions).toHaveLength(3)
})

test('K7 Y4 does not affect other agents', async () => {
  const { json, play, daemon } = await started()
  const { token } = await json<{ token: string }>('agents', 'add', 'mine')
  const propose = async () => {
    const reply = await fetch(`http://localhost:${daemon().port}/api/tools/cowork_propose/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: proposal() }),
    })
    const { output } = (await reply.json()) as { output: { mode: string; policy_id: string } }
    return output
  }
  const before = await propose()
  expect((await play(short)).policies).not.toBeNull()
  expect(await propose()).toMatchObject({ mode: before.mode, policy_id: 'everyone-else' })
  const { agents } = await json<{ agents: { id: string; status: string }[] }>('agents', 'ls')
  const active = agents.filter(({ status }) => status === 'active').map(({ id }) => id)
  expect(active).toEqual(['mine'])
})

test('K7 keeps the policies of a person', async () => {
  const { cowork, json } = await started(`
policies: [{ id: mine, rules: [{ field: tags, constraint: readonly }] }]
mappings: [{ agent_id: 'demo-*', domain: 'demo.*', policy_id: mine }]
`)
  const { code, stderr } = await cowork(short.slice(0, -1))
  expect(code).toBe(0)
  expect(stderr).toContain('Policies exist already and were not changed.')
  expect((await json<Versions>('policy', 'versions')).versions).toHaveLength(1)
})

test('K7 I6 leaves actions that need a passkey to the person', async () => {
  const app = await startTestApp()
  onTestFinished(() => app.close())
  const api = async (path: string, token: string, body: object) => {
    const reply = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await reply.json()) as Record<string, string>
  }
  const { output } = (await (await app.call('cowork_open_link')).json()) as {
    output: { link: string }
  }
  const opened = await api('/api/sessions', '', { code: output.link.split('=').at(-1) })
  const session = String(opened['token'])
  const key = createAuthenticator({ origin: `http://localhost:${app.port}` })
  const { challenge = '' } = await api('/api/passkeys/challenge', session, { for: 'register' })
  const made = key.create(challenge)
  const added = await api('/api/passkeys', session, {
    id: made.id,
    public_key: made.publicKey.toString('base64url'),
    algorithm: made.algorithm,
    authenticator_data: made.authenticatorData.toString('base64url'),
    client_data: made.clientData.toString('base64url'),
    name: 'Laptop',
  })
  expect(added).toMatchObject({ id: key.id })
  const place = testPlace()
  const { code, stderr, stdout } = await place.cowork([...short.slice(0, -1), '--state', app.state])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stderr).toContain('Saved no demo policies: cowork_save_policies needs your passkey.')
  expect(stdout).toContain('demo-hasty')
})

test('RC1 the demo decides as its own reviewer, and reports exclude it', async () => {
  const { cowork, json, play } = await started('trust: { spot_check_rate: 0 }')
  await play(short)
  const text = (await cowork(['audit', 'tail', '-n', '1000', '--json'])).stdout
  const entries = text
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as Entry & { seq: number; subject?: string; actor: { id: string } },
    )
  const decisions = entries.filter(({ type }) => /^approval\.(approved|rejected)$/.test(type))
  expect(decisions.length).toBeGreaterThan(5)
  expect(new Set(decisions.map(({ actor }) => actor.id))).toEqual(new Set(['demo-reviewer']))
  // Removed: no session or invitation remains.
  const removed = entries.filter(({ type }) => type === 'person.removed')
  expect(removed).toMatchObject([{ subject: 'demo-reviewer' }])
  expect(entries.findLast(({ actor }) => actor.id === 'demo-reviewer')?.seq).toBeLessThan(
    removed[0]?.seq ?? 0,
  )
  expect(await json('report')).toMatchObject({
    findings: [],
    interventions: [],
    quality: { n_reviewed: 0, rubber_stamp_share: null },
  })
})

test('RC1 demo --clean removes what the demo created, and finds nothing the second time', async () => {
  const { cowork, json, play } = await started('trust: { spot_check_rate: 0 }')
  await json('agents', 'add', 'mine')
  await play(short)
  const before = await json<{ items: unknown[] }>('inbox')
  expect(before.items.length).toBeGreaterThan(1)
  type Cleaned = { ended: Record<string, number>; left: unknown[] }
  const first = await json<Cleaned>('demo', '--clean')
  expect(first.left).toEqual([])
  expect(first.ended).toMatchObject({ trust: 3, policies: 1, projects: 1, files: 3 })
  expect(first.ended['approvals']).toBeGreaterThan(1)
  expect(await json('inbox')).toMatchObject({ items: [] })
  expect(await json('policy', 'list')).toMatchObject({ policies: [], mappings: [] })
  const { agents } = await json<{ agents: { id: string; status: string }[] }>('agents', 'ls')
  expect(agents.filter(({ status }) => status === 'active')).toMatchObject([{ id: 'mine' }])
  const again = await json<Cleaned>('demo', '--clean')
  expect(Object.values(again.ended).every((count) => count === 0)).toBe(true)
  expect((await cowork(['audit', 'verify'])).code).toBe(0)
})

test('K7 a blocked demo names the cause and the remedy', async () => {
  const { cowork } = await started('authority: { volume_cap: 5 }')
  const { code, stderr } = await cowork(demo)
  expect(code).not.toBe(0)
  expect(stderr).toContain('VolumeCapError')
  expect(stderr).toContain('a separate state directory')
})
