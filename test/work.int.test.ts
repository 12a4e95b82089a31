import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDaemonInfo, statePaths } from '../src/base/state.ts'
import { startTestApp } from './app.ts'
import type { TestApp } from './app.ts'
import { listEntries } from './files.ts'
import { createClient } from './speakers.ts'
import type { Speaker } from './speakers.ts'
import { connectBy, connectOverStdio, connectTo, parseIndexFile, settled } from './work-clients.ts'
import type { WorkClient } from './work-clients.ts'

let app: TestApp
let owner: Speaker
let claude: WorkClient
let codex: WorkClient
let gemini: WorkClient
let clients: WorkClient[]

beforeAll(async () => {
  app = await startTestApp({ 'work.auto_sync': false })
  owner = createClient(app, app.owner)
  claude = await connectTo(app, 'claude', 'http')
  codex = await connectTo(app, 'codex', 'stdio')
  gemini = await connectTo(app, 'gemini', 'http')
  clients = [claude, codex, gemini]
})
afterAll(async () => {
  for (const { end } of clients) await end()
  await app.close()
})

async function register(project: string, stories = 0): Promise<string[]> {
  await owner.call('worksync_register_project', { project })
  await owner.call('worksync_create_sprint', { project, sprint_id: 'one', status: 'active' })
  const made = await Promise.all(
    Array.from({ length: stories }, async (_, n) => {
      const args = { project, sprint_id: 'one', title: `Story ${n}` }
      const { story } = await owner.call('worksync_add_story', args)
      return (story as { id: string }).id
    }),
  )
  return made
}

test('W8 W20 three agents work on one project concurrently, over HTTP and stdio, without losing changes', async () => {
  const project = 'together'
  await register(project)
  const each = 15
  const made = await Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: each }, async (_, n) => {
        const title = `${client.id} ${n}`
        const { story } = await client.ask('add_story', { project, sprint_id: 'one', title })
        const { id } = story as { id: string }
        await client.ask('claim', { project, story_id: id })
        await client.ask('update_story', { project, story_id: id, append_notes: `by ${client.id}` })
        const done = await client.ask('done', { project, story_id: id })
        expect(done).toMatchObject({ story: { status: 'done', by: client.id } })
        return id
      }),
    ),
  )
  expect(new Set(made).size).toBe(clients.length * each)
  await expect.poll(() => parseIndexFile(app, project).history.length).toBe(made.length)
  const { sprints, history, next_story } = parseIndexFile(app, project)
  const stories = sprints.flatMap((sprint) => sprint.stories ?? [])
  expect(next_story).toBe(made.length + 1)
  expect(stories.map(({ id }) => id).toSorted()).toEqual(made.toSorted())
  for (const { title = '', notes, by, status } of stories) {
    const [id] = title.split(' ')
    expect({ notes, by, status }).toEqual({ notes: `by ${id}`, by: id, status: 'done' })
  }
  expect(new Set(history.map(({ ref }) => ref))).toEqual(new Set(made))
  const entries = await listEntries(app, '&type=work.changed')
  const doneBy = entries.filter(
    ({ subject = '', outcome }) => outcome === 'done' && subject.startsWith(project),
  )
  expect(doneBy).toHaveLength(made.length)
  expect(new Set(doneBy.map(({ actor }) => actor.id))).toEqual(new Set(clients.map(({ id }) => id)))
})

test('W20 N10 for each of two hundred stories exactly one of sixteen concurrent claims wins', async () => {
  const project = 'race'
  const ids = await register(project, 200)
  const racers = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const { token } = await owner.call('cowork_add_agent', { id: `racer-${n}` })
      return createClient(app, String(token))
    }),
  )
  const winners = new Map<string, string>()
  const race = async (story_id: string, at: number) => {
    // A different agent starts each time.
    const line = [...racers.slice(at % 16), ...racers.slice(0, at % 16)]
    const results = await Promise.all(
      line.map((racer) => racer.call('worksync_claim', { project, story_id })),
    )
    const won = results.filter(({ code }) => code === undefined)
    expect(won).toHaveLength(1)
    expect(results.filter(({ code }) => code === 'lease_held')).toHaveLength(15)
    for (const { lease } of won) winners.set(story_id, (lease as { agent: string }).agent)
  }
  for (let at = 0; at < ids.length; at += 20)
    await Promise.all(ids.slice(at, at + 20).map((id, n) => race(id, at + n)))
  expect(new Set(winners.values()).size).toBeGreaterThan(1)
  const { projects } = await owner.call('worksync_status', { project })
  expect(projects).toMatchObject([{ counts: { stories: { in_progress: 200 }, ready: 0 } }])
  const inFile = () => parseIndexFile(app, project).sprints[0]?.stories ?? []
  await expect
    .poll(() => new Map(inFile().map(({ id, lease }) => [id, lease?.agent])))
    .toEqual(winners)
})

describe('one sequence of calls by two agents', () => {
  /** A sample sequence of calls, the same for every agent. */
  async function workingDay({ ask }: WorkClient, project: string) {
    const of = { project }
    await ask('create_sprint', { ...of, sprint_id: 'one', title: 'One', status: 'active' })
    await ask('create_sprint', { ...of, sprint_id: 'two', goal: 'Later: more' })
    await ask('add_story', { ...of, sprint_id: 'one', title: 'First: the # of it' })
    await ask('add_story', { ...of, sprint_id: 'one', title: 'Second', depends_on: ['STORY-1'] })
    await ask('add_backlog', { ...of, summary: 'Pin actions by SHA', theme: 'security' })
    await ask('update_backlog', { ...of, item_id: 'pin-actions-by-sha', priority: 'high' })
    await ask('claim', { ...of, story_id: 'STORY-1' })
    await ask('update_story', { ...of, story_id: 'STORY-1', append_notes: 'Line 1\nLine 2' })
    await ask('comment', { ...of, story_id: 'STORY-1', text: 'Looks good' })
    await ask('done', { ...of, story_id: 'STORY-1', notes: 'Finished' })
    await ask('move', { ...of, item_id: 'pin-actions-by-sha', sprint_id: 'two' })
    await ask('claim', { ...of, story_id: 'STORY-3' })
    await ask('release', { ...of, story_id: 'STORY-3', status: 'blocked' })
    await ask('update_sprint', { ...of, sprint_id: 'one', status: 'completed', carry_to: 'two' })
    await ask('history', { ...of, summary: 'The day is over' })
    await ask('sync', of)
  }

  /** Replaces attribution and times. */
  const neutral = (text: string, { id }: WorkClient, project: string) =>
    text
      .replaceAll(/\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?/g, 'TIME')
      .replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'AGENT')
      .replaceAll(project, 'PROJECT')

  const vaultOf = (project: string, client: WorkClient) => {
    const folder = join(app.state, 'worksync', 'vault', 'projects', project)
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
      .toSorted()
    return names.map((name) => [
      name,
      neutral(readFileSync(folder + name, 'utf8'), client, project),
    ])
  }

  test('W42 one sequence of calls gives byte-identical YAML and vault except attribution and time', async () => {
    const days: { yaml: string; vault: string[][] }[] = []
    for (const [project, client] of [
      ['day-a', claude],
      ['day-b', codex],
    ] as const) {
      await owner.call('worksync_register_project', { project })
      await workingDay(client, project)
      const yaml = await settled(app, project, 'The day is over')
      days.push({ yaml: neutral(yaml, client, project), vault: vaultOf(project, client) })
    }
    const [a, b] = days
    expect(a?.yaml).toContain('by: AGENT')
    expect(b?.yaml).toBe(a?.yaml)
    expect(a?.vault.length).toBeGreaterThan(5)
    expect(b?.vault).toEqual(a?.vault)
  })
})

test('SV13 W25 projects, stories and prompts are available over MCP', async () => {
  const project = 'addressed'
  const [id] = await register(project, 2)
  for (const { client } of [claude, codex]) {
    const uris = (await client.listResources()).resources.map(({ uri }) => uri)
    expect(uris).toContain(`work://${project}`)
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents as { text: string }[]
      return JSON.parse(content?.text ?? '') as object
    }
    expect(await read(`work://${project}`)).toMatchObject({
      project,
      counts: { stories: { planned: 2 } },
    })
    expect(await read(`work://${project}/${id}`)).toMatchObject({
      id,
      sprint_id: 'one',
      ready: true,
    })
    for (const odd of ['work://nowhere', `work://${project}/nothing`, 'work://../..'])
      await expect(client.readResource({ uri: odd })).rejects.toThrow('work://')
    const { prompts } = await client.listPrompts()
    const names = prompts.map(({ name }) => name)
    for (const name of ['work_status', 'work_sync', 'work_focus', 'work_done', 'add_project'])
      expect(names).toContain(name)
    const { messages } = await client.getPrompt({ name: 'work_focus', arguments: { project } })
    expect(JSON.stringify(messages)).toContain('worksync_ready')
  }
})

test('W1 W2 the second listener serves only the work tools, with the key or another token', async () => {
  const key = 'wk-0123456789abcdef'
  const second = await startTestApp(
    { 'work.listen': true, 'work.port': 0 },
    { shared: { worksyncKey: key } },
  )
  try {
    const info = readDaemonInfo(statePaths(second.state)) as { workUrl?: string } | undefined
    const url = info?.workUrl ?? ''
    const agent = await connectTo(second, 'worker', 'http', url)
    const { tools } = await agent.client.listTools()
    expect(tools.map(({ name }) => name)).toContain('worksync_status')
    expect(tools.filter(({ name }) => !name.startsWith('worksync_'))).toEqual([])
    expect(await agent.ask('status')).toMatchObject({ projects: [] })
    await agent.end()
    const ask = (authorization?: string, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(authorization && { authorization }),
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 't', version: '1' },
          },
        }),
      })
    expect((await ask(`Bearer ${key}`)).status).toBe(200)
    // The key is shared; the `agent` parameter is recorded as a claim (W8).
    const keyed = await connectBy(url, key)
    const person = createClient(second, second.owner)
    await person.call('worksync_register_project', { project: 'p' })
    const result = await keyed.callTool({
      name: 'worksync_add_backlog',
      arguments: { project: 'p', summary: 'By key', agent: 'claude' },
    })
    expect(result.structuredContent).toMatchObject({ item: { by: 'worksync:claude' } })
    await keyed.close()
    const calls = await listEntries(second, '&type=call.done')
    const call = calls.find(({ data }) => data?.['claim'] === 'claude')
    expect(call).toMatchObject({ actor: { kind: 'agent', id: 'worksync', verified: true } })
    expect((await ask()).status).toBe(401)
    expect((await ask('Bearer wk-wrong')).status).toBe(401)
    expect((await ask(`Bearer ${key}`, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await fetch(url.replace('/mcp', '/api/ledger'))).status).toBe(404)
  } finally {
    await second.close()
  }
})

test('RM2 W2 with the key set, work needs it or another valid token at every endpoint', async () => {
  const key = 'wk-0123456789abcdef'
  const keyed = await startTestApp(
    { 'work.listen': true, 'work.port': 0 },
    { shared: { worksyncKey: key } },
  )
  try {
    const person = createClient(keyed, keyed.owner)
    await person.call('worksync_register_project', { project: 'secret-plan' })
    const prompt = join(keyed.state, 'worksync', 'projects', 'secret-plan', 'PROMPTS', 'own.md')
    writeFileSync(prompt, 'OUR WORDS')
    const open = [await connectBy(keyed.mcpUrl, ''), await connectOverStdio(keyed.state, '')]
    for (const client of open) {
      for (const name of ['worksync_status', 'worksync_add_backlog', 'worksync_guidance']) {
        const isAdded = name === 'worksync_add_backlog'
        const args = { project: 'secret-plan', ...(isAdded && { summary: 'x' }) }
        const result = await client.callTool({ name, arguments: args })
        expect(result.isError).toBe(true)
        expect(JSON.stringify(result.content)).toContain('WORKSYNC_API_KEY')
        expect(JSON.stringify(result.content)).toContain('Authorization: Bearer')
        expect(JSON.stringify(result)).toContain('auth_required')
      }
      // Only work tools need the key.
      const info = await client.callTool({ name: 'get_workspace_info', arguments: {} })
      expect(info.isError).not.toBe(true)
      const { resources } = await client.listResources()
      expect(JSON.stringify(resources)).not.toContain('"work://')
      await expect(client.readResource({ uri: 'work://secret-plan' })).rejects.toThrow('work://')
      expect(JSON.stringify(await client.listPrompts())).not.toContain('secret-plan')
      await expect(client.getPrompt({ name: 'secret-plan_own' })).rejects.toThrow('Unknown prompt')
      // The call can pass the key.
      const withKey = { project: 'secret-plan', agent_token: key }
      const result = await client.callTool({ name: 'worksync_status', arguments: withKey })
      expect(result.isError).not.toBe(true)
      await client.close()
    }
    const holders = [await connectBy(keyed.mcpUrl, key), await connectOverStdio(keyed.state, key)]
    for (const client of holders) {
      const result = await client.callTool({ name: 'worksync_status', arguments: {} })
      expect(result.isError).not.toBe(true)
      expect(JSON.stringify(await client.getPrompt({ name: 'secret-plan_own' }))).toContain('OUR')
      await client.close()
    }
    expect(await person.call('worksync_status')).toMatchObject({ projects: expect.anything() })
    const agent = await connectTo(keyed, 'worker', 'http')
    expect(await agent.ask('status')).toMatchObject({ projects: expect.anything() })
    await agent.end()
  } finally {
    await keyed.close()
  }
})

test('W2 without the key, work tools need no token', async () => {
  const open = await startTestApp()
  try {
    const client = await connectBy(open.mcpUrl, '')
    const result = await client.callTool({ name: 'worksync_status', arguments: {} })
    expect(result.isError).not.toBe(true)
    await client.close()
  } finally {
    await open.close()
  }
})
