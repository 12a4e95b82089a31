import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemKinds, priorities, sprintStatuses, storyStatuses } from '../src/cli/choices.ts'
import { maxTextBytes } from '../src/cli/work/requests.ts'
import { maxTextBytes as daemonTakes } from '../src/work/disk/text-search.ts'
import * as model from '../src/work/model.ts'
import { ended, newPlace, testPlace } from './cli.ts'
import type { Result } from './cli.ts'
import { inTerminal } from './terminal.ts'

const parseJson = (text: string) => JSON.parse(text) as Record<string, unknown>

/** Runs the WorkSync program on the same data root. */
function worksyncOn(place: ReturnType<typeof newPlace>) {
  const program = join(process.cwd(), 'bin', 'worksync.mjs')
  return (args: string[]): Promise<Result> => {
    const { state: cwd, env } = place
    const child = spawn(process.execPath, [program, ...args], { cwd, env })
    child.stdin.end()
    return ended(child)
  }
}

describe('cowork work', () => {
  const place = newPlace()
  const work = (...args: string[]) => place.cowork(['work', ...args])
  const file = (project: string) =>
    join(place.state, '.worksync', 'projects', project, 'work-index.yaml')
  const runJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await work(...args, '--json')
    expect(code, stderr).toBe(0)
    return parseJson(stdout)
  }

  beforeAll(async () => {
    await place.cowork(['up', '-d'])
  })
  afterAll(() => place.end())

  test('K1, W11 without projects the output names register, which adds one', async () => {
    expect((await work()).stdout).toContain('cowork work register')
    expect(await work('ready')).toMatchObject({ code: 3 })
    expect(await work('register', 'Not a Name')).toMatchObject({ code: 2 })
    const added = await work('register', 'shop', '--description', 'The shop')
    expect(added, added.stderr).toMatchObject({ code: 0 })
    expect(existsSync(file('shop'))).toBe(true)
    expect((await work('projects')).stdout).toMatch(/^shop +0 +0 +0 +0 +The shop$/m)
    expect(await work('register', 'shop')).toMatchObject({ code: 2 })
  })

  test('K1, W12, W13, W14 sprints, stories and backlog items are created, listed and shown', async () => {
    await work('sprint', 'auth', '--title', 'Auth rework', '--status', 'active')
    expect((await work('story', 'auth', 'Rotate', 'the', 'keys')).stdout).toBe(
      'Added STORY-1 to auth.\n',
    )
    await work('story', 'auth', 'Tell people', '--needs', 'STORY-1', '--priority', 'high')
    expect((await work('add', 'Clean', 'up', '--theme', 'ops')).stdout).toContain('clean-up')
    expect((await work('list')).stdout).toMatch(/STORY-2 +planned +high +auth +Tell people$/m)
    expect((await work('ready')).stdout).toMatch(/STORY-1 /)
    expect((await work('ready')).stdout).not.toMatch(/STORY-2 /)
    expect((await work('search', 'keys', '--kind', 'story')).stdout).toContain('Rotate the keys')
    expect((await work('show', 'STORY-2')).stdout).toContain('blocked by STORY-1')
    expect((await work('show', 'auth')).stdout).toContain('0 of 2 done')
    expect((await work('show', 'clean-up')).stdout).toContain('todo · backlog · ops')
    expect(await runJson('list', '--kind', 'backlog')).toMatchObject({
      schemaVersion: 1,
      items: [{ id: 'clean-up', kind: 'backlog', project: 'shop' }],
    })
  })

  test('K3 exit codes distinguish unknown ids, wrong flags, stale revisions and refusals', async () => {
    expect(await work('show', 'nothing')).toMatchObject({ code: 3, stdout: '' })
    expect(await work('show', 'STORY-1', '-p', 'elsewhere')).toMatchObject({ code: 3 })
    expect(await work('set', 'STORY-1', '--goal', 'x')).toMatchObject({ code: 2 })
    expect(await work('set', 'STORY-1', '--if-rev', '9', '--notes', 'x')).toMatchObject({ code: 7 })
    expect(await work('set', 'auth', '--status', 'completed')).toMatchObject({ code: 5 })
    expect(await work('story', 'auth', 'x', '--needs', 'STORY-99')).toMatchObject({ code: 3 })
    expect(await work('set', 'STORY-1', '--needs', 'STORY-2')).toMatchObject({ code: 2 })
  })

  test('W15, W16, W17, W20 a story is claimed, changed, released, finished and in the history', async () => {
    expect((await work('claim', 'STORY-1', '--minutes', '5')).stdout).toContain(
      'Claimed STORY-1 until',
    )
    expect((await work('status')).stdout).toMatch(/story +STORY-1 +Rotate the keys +owner, 5m left/)
    await work('set', 'STORY-1', '--append', 'half way', '--estimate', '3')
    expect(await runJson('show', 'STORY-1')).toMatchObject({
      kind: 'story',
      story: { status: 'in_progress', notes: 'half way', estimate: 3, lease: { agent: 'owner' } },
    })
    expect((await work('release', 'STORY-1')).stdout).toContain('planned')
    await work('comment', 'STORY-1', 'looks', 'good')
    expect((await work('done', 'STORY-1', '--summary', 'Keys rotate')).stdout).toContain(
      'Completed STORY-1',
    )
    expect(await work('done', 'STORY-1')).toMatchObject({ code: 3 })
    await work('history', '--add', 'Looked around')
    expect((await work('history')).stdout).toMatch(/Looked around.*\n.*Keys rotate/)
    expect((await work('show', 'STORY-1')).stdout).toContain('looks good')
    await expect.poll(() => readFileSync(file('shop'), 'utf8')).toContain('status: done')
  })

  test('W13, W20 move takes a backlog item into a sprint, and completing a sprint carries its stories', async () => {
    expect((await work('move', 'clean-up', 'auth')).stdout).toBe(
      'Moved clean-up to auth as STORY-3.\n',
    )
    await work('sprint', 'next')
    expect((await work('move', 'STORY-3', 'next')).stdout).toBe('Moved STORY-3 to next.\n')
    const over = await work('set', 'auth', '--status', 'completed', '--carry-to', 'next')
    expect(over.stdout).toContain('Moved STORY-2 to next.')
    expect(await runJson('remove', 'clean-up')).toMatchObject({ removed: { id: 'clean-up' } })
  })

  test('W8 AGENT_ID names an agent in the terminal of the owner, as a claim', async () => {
    await place.cowork(['work', 'add', 'From an agent'], { AGENT_ID: 'helper-bot' })
    const { stdout } = await place.cowork(['audit', 'tail', '-n', '5', '--json'])
    expect(stdout).toContain('helper-bot')
    expect((await runJson('list', '--kind', 'backlog'))['items']).toHaveLength(1)
  })

  test('W5 a conflict is listed, shown with both sides, and resolved', async () => {
    await work('set', 'STORY-2', '--notes', 'as it was')
    await expect.poll(() => readFileSync(file('shop'), 'utf8')).toContain('as it was')
    const before = readFileSync(file('shop'), 'utf8')
    await work('set', 'STORY-2', '--notes', 'as agents say')
    await expect.poll(() => readFileSync(file('shop'), 'utf8')).toContain('as agents say')
    writeFileSync(file('shop'), before.replace('as it was', 'as people say'))
    const status = await runJson('status', '-p', 'shop')
    const [project] = status['projects'] as { conflicts: { id: string; field: string }[] }[]
    expect(project?.conflicts).toMatchObject([{ field: 'notes' }])
    const id = project?.conflicts[0]?.id ?? ''
    expect((await work('status')).stdout).toContain(id)
    const shown = (await work('show', 'STORY-2')).stdout
    expect(shown).toContain('current: "as agents say"')
    expect(shown).toContain('file: "as people say"')
    expect(await work('resolve', id, 'mine')).toMatchObject({ code: 2 })
    expect(await work('resolve', id.slice(0, -1), 'theirs')).toMatchObject({ code: 0 })
    expect(await runJson('show', 'STORY-2')).toMatchObject({ story: { notes: 'as people say' } })
  })

  test('W25 show prints the text of a backlog item and of the story made from it', async () => {
    await work('add', 'Write it down', '--theme', 'docs', '--priority', 'low')
    const path = join(dirname(file('shop')), 'BACKLOG', 'write-it-down.md')
    writeFileSync(path, '# At length\n\nIn \u001B[31mred\n')
    const { stdout } = await work('show', 'write-it-down')
    expect(stdout).toMatch(/^Text$\n^ {2}# At length$/m)
    expect(stdout).not.toContain('\u001B[31m')
    expect(await runJson('show', 'write-it-down')).toMatchObject({
      item: { text: '# At length\n\nIn \u001B[31mred\n' },
    })
    await work('set', 'write-it-down', '--clear', 'theme', 'priority')
    const { item } = await runJson('show', 'write-it-down')
    expect(item).not.toHaveProperty('theme')
    expect(item).not.toHaveProperty('priority')
    const { story } = (await runJson('move', 'write-it-down', 'auth')) as { story: { id: string } }
    expect((await work('show', story.id)).stdout).toMatch(/^Text$\n^ {2}# At length$/m)
    rmSync(path)
    mkdirSync(path)
    expect((await work('show', story.id)).stdout).toContain('not a regular file')
    await work('set', story.id, '--status', 'dropped')
    await work('remove', 'write-it-down')
  })

  test('W6, K2 with an invalid file reads continue with a note, and changes name the position of the error', async () => {
    const good = readFileSync(file('shop'), 'utf8')
    writeFileSync(file('shop'), `${good}\n  - : [\n`)
    const read = await work('list')
    expect(read).toMatchObject({ code: 0 })
    expect(read.stdout).toContain('STORY-2')
    expect(read.stderr).toContain('is invalid')
    const refused = await work('set', 'STORY-2', '--notes', 'x')
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toMatch(/work-index\.yaml:\d+:\d+: /)
    expect((await work('projects', 'shop')).stdout).toMatch(/^file invalid at \d+:\d+/m)
    writeFileSync(file('shop'), good)
    expect(await work('set', 'STORY-2', '--notes', 'x')).toMatchObject({ code: 0 })
  })

  test('W18, W19 sync writes changed notes, and guidance is printed', async () => {
    expect((await work('sync')).stdout).toContain('.worksync/vault')
    expect((await work('sync')).stdout).toMatch(/^Wrote 0 of /)
    expect((await work('guidance', 'typescript')).stdout).toMatch(/^# /)
    expect((await work('guidance', 'no-such-thing')).stdout).toContain('Topics: ')
  })

  test('K2, I10 with several projects -p is required; registering a repository and unregistering need a person', async () => {
    const repo = join(place.state, 'repo')
    mkdirSync(repo, { recursive: true })
    expect(await work('register', 'site', '--repo', repo)).toMatchObject({ code: 4 })
    expect(await work('unregister', 'shop', '--yes')).toMatchObject({ code: 4 })
    const byHand = (...args: string[]) => inTerminal(place, ['work', ...args]).ended()
    const added = await byHand('register', 'site', '--repo', 'repo')
    expect(added.code, added.output).toBe(0)
    const unnamed = await work('ready')
    expect(unnamed).toMatchObject({ code: 2 })
    expect(unnamed.stderr).toContain('-p: shop, site')
    expect(await work('ready', '-p', 'si')).toMatchObject({ code: 0 })
    expect((await byHand('unregister', 'site', '--yes')).code).toBe(0)
    expect((await work('projects')).stdout).not.toContain('site')
  })

  test('C6, K2 without a terminal the board is a list or JSON', async () => {
    expect((await work('board')).stdout).toMatch(
      /shop · next · 0 of 2 done\n\nPLANNED 2\n {2}STORY-/,
    )
    expect(await runJson('board', '--sprint', 'auth')).toMatchObject({
      sprint: 'auth',
      columns: expect.arrayContaining([
        { status: 'done', stories: [expect.objectContaining({ id: 'STORY-1' })] },
      ]),
    })
  })

  test('C6 in a terminal keys move stories, and changes of others appear automatically', async () => {
    const screen = inTerminal(place, ['work', 'board'])
    const sees = async (text: string | RegExp) => {
      await expect.poll(() => screen.lines().join('\n'), { timeout: 20_000 }).toMatch(text)
    }
    await sees('planned 2')
    screen.press('>')
    await sees('in progress 1')
    const { items } = (await runJson('list', '--status', 'in-progress')) as {
      items: { id: string }[]
    }
    expect(items).toHaveLength(1)
    await work('story', 'next', 'From elsewhere')
    await sees('planned 2')
    screen.press('aBy key\r')
    await sees(/planned 3[^]*By key/)
    screen.press('d')
    await sees('History entry')
    screen.press('at once\r')
    await sees('done 1')
    expect((await work('history', '-n', '1')).stdout).toContain('at once')
    screen.press('q')
    const { code } = await screen.ended()
    expect(code).toBe(0)
    const [before, after] = screen.settings()
    expect(after).toBe(before)
  })

  test('W42 verify calls every tool over MCP and removes its project', async () => {
    const folders = () =>
      ['projects', 'vault/projects'].map((name) =>
        readdirSync(join(place.state, '.worksync', name)),
      )
    const before = folders()
    const verified = await work('verify')
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 })
    expect(verified.stdout).toMatch(/^over stdio$/m)
    expect(verified.stdout.match(/^ {2}ok {4}worksync_/gm)).toHaveLength(14)
    expect(folders()).toEqual(before)
    expect((await work('projects')).stdout).not.toContain('verify')
  })

  test('W42 with authentication on, verify uses a temporary agent', async () => {
    await place.cowork(['agents', 'add', 'sales'])
    for (let round = 0; round < 2; round++) {
      const { code, stdout, stderr } = await work('verify', '--json')
      expect(code, stdout + stderr).toBe(0)
      expect(parseJson(stdout)).toMatchObject({ ok: true })
    }
    const { stdout } = await place.cowork(['agents', 'ls'])
    expect(stdout).toMatch(/^work-verify +revoked/m)
  })
})

describe('worksync', () => {
  const initialize = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
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
  const urlIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(text)?.[0] ?? ''

  test('SV3, W1, W2 start, status, logs, restart without a key, stop; .pid has only the process id', async () => {
    const place = testPlace('work: { port: 0, api_key: "wk-0123456789abcdef" }\n')
    const worksync = worksyncOn(place)
    const pid = join(place.state, '.worksync', '.pid')
    expect(await worksync(['status'])).toMatchObject({
      code: 8,
      stdout: 'worksync is not running.\n',
    })
    expect(await worksync(['dance'])).toMatchObject({ code: 2 })
    // A daemon without the work endpoint is detected, and restart opens the endpoint.
    await place.cowork(['up', '-d'])
    expect(await worksync(['status'])).toMatchObject({ code: 8 })
    const refused = await worksync(['start'])
    expect(refused).toMatchObject({ code: 1 })
    expect(refused.stderr).toContain('worksync restart')
    const started = await worksync(['restart'])
    expect(started, started.stderr).toMatchObject({ code: 0 })
    const url = urlIn(started.stdout)
    expect(await worksync(['start'])).toMatchObject({ code: 0 })
    expect(readFileSync(pid, 'utf8')).toBe(`${place.daemon().pid}\n`)
    expect((await worksync(['status'])).stdout).toContain(url)
    expect((await initialize(url)).status).toBe(401)
    expect((await initialize(url, { authorization: 'Bearer wk-0123456789abcdef' })).status).toBe(
      200,
    )
    const verified = await place.cowork(['work', 'verify'])
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 })
    expect(verified.stdout).toContain(`over ${url}`)

    const open = urlIn((await worksync(['restart', '--no-auth'])).stdout)
    expect((await initialize(open)).status).toBe(200)
    const log = (await worksync(['logs'])).stdout
    expect(log).toContain('the work endpoint is unauthenticated')
    expect(log).not.toContain('wk-0123456789abcdef')
    expect(await worksync(['stop'])).toMatchObject({ code: 0 })
    expect(existsSync(pid)).toBe(false)
    expect(await worksync(['status'])).toMatchObject({ code: 8 })
  })

  test('SV3 without a command worksync runs in the foreground until a signal, also with --no-auth', async () => {
    const place = testPlace()
    const program = join(process.cwd(), 'bin', 'worksync.mjs')
    const child = spawn(process.execPath, [program, '--no-auth'], {
      cwd: place.state,
      env: { ...place.env, WORKSYNC_PORT: '0' },
    })
    child.stdin.end()
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await expect.poll(() => urlIn(output), { timeout: 30_000 }).not.toBe('')
    expect((await initialize(urlIn(output))).status).toBe(200)
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })
})

test('W9 the command line has the same enums and limits as the daemon', () => {
  expect(storyStatuses).toEqual(model.storyStatuses)
  expect(sprintStatuses).toEqual(model.sprintStatuses)
  expect(priorities).toEqual(model.priorities)
  expect(itemKinds.toSorted()).toEqual(['backlog', 'sprint', 'story'])
  expect(maxTextBytes).toBe(daemonTakes)
})
