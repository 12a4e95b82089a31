// `cowork mcp` between real clients and a real daemon, which may stop and come back.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { proposal } from './acts.ts'
import { ended, launcher, lineReader, newPlace, testPlace } from './cli.ts'
import { openFifo, openFiles } from './fifo.ts'
import { newFolder } from './files.ts'
import { extractContent } from './text-results.ts'

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const initialize = line({
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
})
const call = (id: number, name: string, args: object = {}) =>
  line({ id, method: 'tools/call', params: { name, arguments: args } })
const note = (id: number) =>
  call(id, 'cowork_log', { domain: 'd', action: 'a', target: `t${id}`, details: {} })

type Answer = {
  id: number
  result: { content?: { text?: string }[] }
}
const answerIn = (text: string) => JSON.parse(text) as Answer
const idsIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((one) => answerIn(one).id)
    .toSorted((a, b) => a - b)
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

const folder = newFolder()
const place = newPlace(`grants: [{ path: "${folder}", permission: read-write }]\n`)
beforeAll(async () => {
  await place.cowork(['up', '-d'])
  // Starts the file worker, whose sockets would count.
  await place.cowork(['files', 'ls'])
})
afterAll(async () => {
  await place.end()
  rmSync(folder, { recursive: true })
})

/** A client that speaks over two sockets, as Node makes them for a child. */
async function startClient(where = place) {
  const child = where.start(['mcp'])
  onTestFinished(() => void child.kill('SIGKILL'))
  const nextLine = lineReader(child)
  child.stdin.on('error', () => undefined)
  child.stdin.write(initialize)
  expect(answerIn(await nextLine()).id).toBe(1)
  return { child, nextLine }
}

/** The official client, in the protocol version that it negotiates or in the legacy one. */
async function connectClient(where: Pick<typeof place, 'env'>, era: Era, args: string[] = []) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [launcher, 'mcp', ...args],
      env: { ...where.env, PATH: process.env['PATH'] ?? '' },
      stderr: 'ignore',
    }),
  )
  onTestFinished(() => client.close())
  return client
}
type Era = 'legacy' | 'auto'

async function callStatus(client: Client) {
  const { isError = false, structuredContent } = await client.callTool({ name: 'cowork_status' })
  return { isError, ...(structuredContent as { code?: string; message?: string }) }
}

/** How many connections the daemon has open. */
const countSockets = () =>
  openFiles(place.daemon().pid).filter((name) => name.startsWith('socket:')).length

/** The same once those of earlier commands and clients have ended. */
async function settledSockets(): Promise<number> {
  let last = -1
  await expect.poll(() => last === (last = countSockets()), { interval: 250 }).toBe(true)
  return last
}

describe('SV4 the bridge ends', () => {
  test('SV4 when the client closes its stdin', async () => {
    const before = await settledSockets()
    const { child, nextLine } = await startClient()
    child.stdin.write(note(2))
    expect(answerIn(await nextLine()).id).toBe(2)
    expect(countSockets()).toBe(before + 1)
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect.poll(countSockets).toBe(before)
  })

  test('SV4 when a client with pipes ends it', async () => {
    const before = await settledSockets()
    const [stdin, stdout] = [openFifo(), openFifo()]
    const stdio = [stdin.descriptor, stdout.descriptor, 'ignore'] as const
    const child = spawn(process.execPath, [launcher, 'mcp'], { env: place.env, stdio: [...stdio] })
    writeSync(stdin.descriptor, initialize)
    // Reads one line of the named pipe.
    const reader = spawn('head', ['-n', '1', stdout.path], { stdio: ['pipe', 'pipe', 'pipe'] })
    expect(idsIn((await ended(reader)).stdout)).toEqual([1])
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expect.poll(countSockets).toBe(before)
  })

  test('SV4 when it is killed, and the client hears the end', async () => {
    const before = await settledSockets()
    const { child, nextLine } = await startClient()
    child.kill('SIGKILL')
    await expect(nextLine()).rejects.toThrow('the output ended')
    await expect.poll(countSockets).toBe(before)
  })

  test('SV4 when the client reads no more', async () => {
    const before = await settledSockets()
    const { child } = await startClient()
    const exited = once(child, 'exit')
    child.stdout.destroy()
    child.stdin.write(note(2))
    expect(await exited).toEqual([0, null])
    await expect.poll(countSockets).toBe(before)
  })
})

describe.each(['legacy', 'auto'] as const)('RA4 a client of the %s protocol', (era) => {
  test('RA4 goes on after `cowork down; cowork up -d`, and hears that lists may have changed', async () => {
    const own = testPlace()
    await own.cowork(['up', '-d'])
    const client = await connectClient(own, era)
    expect(client.getNegotiatedProtocolVersion()).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25')
    let changes = 0
    client.setNotificationHandler('notifications/tools/list_changed', () => void changes++)
    if (era === 'auto') await client.listen({ toolsListChanged: true })
    expect(await callStatus(client)).toMatchObject({ isError: false })
    const { pid } = own.daemon()
    await own.cowork(['down'])
    await own.cowork(['up', '-d'])
    expect(own.daemon().pid).not.toBe(pid)
    expect(await callStatus(client)).toMatchObject({ isError: false })
    await expect.poll(() => changes).toBeGreaterThan(0)
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(0)
  })

  test('RA4 learns that the outcome of an open call is unknown when the daemon is killed, and gets another', async () => {
    const own = testPlace()
    await own.cowork(['up', '-d'])
    const client = await connectClient(own, era)
    const { structuredContent } = await client.callTool({
      name: 'cowork_propose',
      arguments: proposal(),
    })
    const { proposal_id } = structuredContent as { proposal_id: string }
    const open = client.callTool({
      name: 'cowork_check_approval',
      arguments: { proposal_id, wait_seconds: 25 },
    })
    // The daemon reads in order, so it has the open call too.
    await callStatus(client)
    const { pid } = own.daemon()
    process.kill(pid, 'SIGKILL')
    const { isError, content, structuredContent: details } = await open
    expect({ isError, details }).toMatchObject({
      isError: true,
      details: { code: 'outcome_unknown', hint: expect.any(String) as string },
    })
    expect(JSON.stringify(content)).toContain('outcome is unknown')
    await expect
      .poll(async () => (await callStatus(client)).isError, { timeout: 45_000, interval: 500 })
      .toBe(false)
    expect(own.daemon().pid).not.toBe(pid)
  })
})

test('RA4 a daemon that a person stopped stays stopped, and its agents are told', async () => {
  const own = testPlace()
  await own.cowork(['up', '-d'])
  const client = await connectClient(own, 'legacy')
  await own.cowork(['down'])
  expect(await callStatus(client)).toMatchObject({
    isError: true,
    code: 'daemon_not_running',
    message: 'A person stopped cowork.',
    hint: expect.stringContaining('`cowork up -d`') as string,
  })
  await expect(client.listTools()).rejects.toThrow('A person stopped cowork.')
  await client.ping()
  expect((await own.cowork(['status'])).code).toBe(8)
  await own.cowork(['up', '-d'])
  expect(existsSync(own.paths.stopped)).toBe(false)
  await expect.poll(async () => (await callStatus(client)).isError).toBe(false)
})

test('RA4 a new client is a reason to start a daemon that a person stopped', async () => {
  const own = testPlace()
  await own.cowork(['up', '-d'])
  await own.cowork(['down'])
  expect(existsSync(own.paths.stopped)).toBe(true)
  const client = await connectClient(own, 'legacy')
  expect(await callStatus(client)).toMatchObject({ isError: false })
  expect(existsSync(own.paths.stopped)).toBe(false)
})

test('RA4 Ctrl-C on a daemon in the foreground counts as a person who stops it', async () => {
  const own = testPlace()
  const daemon = own.start(['up'])
  await once(daemon.stdout, 'data')
  daemon.kill('SIGINT')
  await once(daemon, 'exit')
  expect(existsSync(own.paths.stopped)).toBe(true)
})

describe('RA10 another program has the port', () => {
  async function occupiedPort() {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }

  test('RA10 SV20 a daemon that a bridge starts takes a free one; `cowork up` refuses', async () => {
    const own = testPlace()
    const taken = await occupiedPort()
    writeFileSync(own.paths.config, `server: { port: ${taken} }\n`)
    const refused = await own.cowork(['up', '-d'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`Port ${taken} on 127.0.0.1 is used by another program`)

    const client = await connectClient(own, 'legacy')
    expect(await callStatus(client)).toMatchObject({ isError: false })
    const { port } = own.daemon()
    expect(port).not.toBe(taken)
    expect((await own.cowork(['status'])).stdout).toContain(`http://localhost:${port}/mcp`)
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const answer = await fetch(`http://${host}:${port}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: initialize,
      })
      expect(answer.status).toBe(200)
    }
    const link = await own.cowork(['open', '--print'])
    expect(link.stdout).toContain(`http://localhost:${port}/`)
  })

  test('RA10 two people on one machine each get a daemon', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((closed) => free.close(closed))
    const people = [testPlace(), testPlace()]
    const ports: number[] = []
    for (const own of people) {
      writeFileSync(own.paths.config, `server: { port: ${port} }\n`)
      expect(await callStatus(await connectClient(own, 'auto'))).toMatchObject({ isError: false })
      ports.push(own.daemon().port)
    }
    expect(ports[0]).toBe(port)
    expect(ports[1]).not.toBe(port)
  })
})

test('SV18 RA8 `cowork mcp` takes a choice of tools, and refuses names that no tool has', async () => {
  const client = await connectClient(place, 'auto', ['--tools', 'files', '--read-only'])
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toContain('read_file')
  expect(names).not.toContain('delete_file')
  expect(names).not.toContain('worksync_ready')
  const wrong = await place.cowork(['mcp', '--tools', 'flies'], {}, initialize)
  expect(wrong).toMatchObject({ code: 2, stdout: '' })
  expect(wrong.stderr).toMatch(/Unknown tools: "flies"\.\n.*Did you mean files/)
  const unknown = await place.cowork(['mcp', '--results', 'xml'], {}, initialize)
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
})

test('I4 I13 SV4 a bridge whose agent is revoked answers what is under way, says why it ends, and ends with 4', async () => {
  const own = testPlace()
  await own.cowork(['up', '-d'])
  const added = await own.cowork(['agents', 'add', 'sales', '--json'])
  const { token } = JSON.parse(added.stdout) as { token: string }
  const child = own.start(['mcp'], { COWORK_TOKEN: token })
  const result = ended(child)
  child.stdin.write(initialize + line({ method: 'notifications/initialized' }))
  child.stdin.write(call(2, 'cowork_propose', proposal()))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect.poll(() => output).toContain('proposal_id')
  const id = /proposal_id\W+([\w-]+)/.exec(output)?.[1]
  child.stdin.write(call(3, 'cowork_check_approval', { proposal_id: id, wait_seconds: 20 }))
  child.stdin.write(note(4))
  await expect.poll(() => output).toContain('"id":4')
  await own.cowork(['agents', 'revoke', 'sales'])
  const { code, stdout, stderr } = await result
  expect(idsIn(stdout)).toEqual([1, 2, 3, 4])
  expect(stdout).toContain('auth_error')
  expect(code).toBe(4)
  expect(stderr).toMatch(/Token .* revoked[^]*cowork agents add/)
})

test('SV4 what was asked before stdin ended is answered', async () => {
  const asked = upTo(20).slice(1)
  const { code, stdout, stderr } = await place.cowork(
    ['mcp'],
    {},
    initialize + asked.map(note).join(''),
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(idsIn(stdout)).toEqual(upTo(20))
})

test('SV4 the bridge works between the programs of a shell', async () => {
  const questions = join(folder, 'questions.jsonl')
  writeFileSync(questions, initialize + note(2) + note(3))
  const shell = spawn(
    'sh',
    ['-c', 'cat "$1" | "$2" "$3" mcp | cat', 'sh', questions, process.execPath, launcher],
    { env: place.env, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  expect(idsIn((await ended(shell)).stdout)).toEqual([1, 2, 3])
})

test('SV4 questions may come from a file, and answers go to one', async () => {
  const [questions, answers] = [join(folder, 'q.jsonl'), join(folder, 'a.jsonl')]
  writeFileSync(questions, initialize + note(2) + note(3))
  const from = openSync(questions, 'r')
  const child = spawn(process.execPath, [launcher, 'mcp'], {
    env: place.env,
    stdio: [from, 'pipe', 'pipe'],
  })
  closeSync(from)
  const { stdout } = child
  let output = ''
  stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  expect(await once(child, 'close')).toEqual([0, null])
  expect(idsIn(output)).toEqual([1, 2, 3])

  const to = openSync(answers, constants.O_WRONLY | constants.O_CREAT)
  const writer = spawn(process.execPath, [launcher, 'mcp'], {
    env: place.env,
    stdio: ['pipe', to, 'ignore'],
  })
  closeSync(to)
  writer.stdin?.end(initialize)
  expect(await once(writer, 'close')).toEqual([0, null])
})

test('SV4, SV25 messages of many megabytes pass both ways', async () => {
  const { child, nextLine } = await startClient()
  for (const [id, size] of [
    [2, 1_000_000],
    [3, 12_000_000],
    [4, 45_000_000],
  ] as const) {
    const path = join(folder, `large-${size}.txt`)
    const content = `${'✓ ab'.repeat(15)}\n`.repeat(size / 91)
    child.stdin.write(call(id, 'create_file', { path, content }))
    expect(answerIn(await nextLine())).toMatchObject({
      id,
      result: { structuredContent: { success: true } },
    })
    let read = ''
    for (let byte_from: number | undefined = 0; byte_from !== undefined;) {
      child.stdin.write(call(id, 'read_file', { path, byte_from, max_bytes: 20_000_000 }))
      const { result } = answerIn(await nextLine())
      const text = result.content?.[0]?.text ?? ''
      const next = /\n\[Truncated.*"byte_from":(\d+)/.exec(text.slice(-500))?.[1]
      // The notes stand below the content.
      read +=
        next === undefined
          ? extractContent(text)
          : Buffer.from(text).toString('utf8', 0, Number(next) - byte_from)
      byte_from = next === undefined ? undefined : Number(next)
    }
    expect(read === content).toBe(true)
  }
})

test('F4 SV12 the official client keeps its connection after every kind of request', async () => {
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(8_999_992)])
  const paths = upTo(5).map((n) => join(folder, `${n}.png`))
  for (const path of paths) writeFileSync(path, picture.subarray(0, 3_000_000))
  const [large, log, quotes] = ['large.png', 'large.log', 'quotes.txt'].map((name) =>
    join(folder, name),
  )
  writeFileSync(large ?? '', picture)
  writeFileSync(log ?? '', 'line\n'.repeat(3_000_000))
  writeFileSync(quotes ?? '', '"'.repeat(9_000_000))
  const client = await connectClient(place, 'legacy')
  const ask = async (name: string, given: Record<string, unknown>) => {
    const { isError, content } = await client.callTool({ name, arguments: given })
    return isError ? (content as { text: string }[])[0]?.text : 'given'
  }
  expect(await ask('read_file', { path: large })).toContain('max_bytes 7000000')
  expect(await ask('read_file', { path: large, byte_from: 0, max_bytes: 2e7 })).toBe('given')
  expect(await ask('read_files', { paths })).toBe('given')
  expect(await ask('read_file', { path: log, max_bytes: 2e7 })).toBe('given')
  // Each of these letters takes two on the way.
  expect(await ask('read_file', { path: quotes, max_bytes: 2e7 })).toContain('smaller max_bytes')
  expect(await ask('read_file', { path: quotes, max_bytes: 4e6 })).toBe('given')
})

test('SV4 a client that does not read for a while gets everything, and holds up nobody else', async () => {
  const path = join(folder, 'megabyte.txt')
  writeFileSync(path, 'All work and no play.\n'.repeat(50_000))
  const { child, nextLine } = await startClient()
  const count = 30
  const asked = upTo(count).map((id) => call(id + 1, 'read_file', { path, max_bytes: 2_000_000 }))
  child.stdin.write(asked.join(''))
  const other = await startClient()
  for (const id of [2, 3, 4]) {
    other.child.stdin.write(note(id))
    expect(answerIn(await other.nextLine()).id).toBe(id)
  }
  const ids: number[] = []
  while (ids.length < count) ids.push(answerIn(await nextLine()).id)
  expect(ids.toSorted((a, b) => a - b)).toEqual(upTo(count).map((id) => id + 1))
})

describe('SV4 RA14 a daemon of another version', () => {
  /** Takes connections as a daemon does, and repeats what it reads after the handshake. */
  function pretend(handshake: (socket: Socket) => void) {
    const own = newPlace()
    const server = createServer((socket) => {
      socket.once('data', (first: Buffer) => {
        handshake(socket)
        // The client's first lines may come along.
        socket.write(first.subarray(first.indexOf('\n') + 1))
        socket.pipe(socket)
      })
      socket.on('error', () => undefined)
    })
    server.listen(own.paths.socket)
    onTestFinished(() => {
      server.close()
      rmSync(own.state, { recursive: true })
    })
    return own
  }

  test('RA14 is named on stderr, and every byte passes', async () => {
    const own = pretend((socket) => socket.write('{"cowork":3,"version":"99.0.0"}\n'))
    const { code, stdout, stderr } = await own.cowork(['mcp'], {}, 'one\n tw\u00f6 \nthree')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one\n tw\u00f6 \n' })
    expect(stderr).toMatch(/^cowork: bridge version .*, daemon version 99\.0\.0\./)
  })

  test('RA14 an older one, which closes instead of an answer, is named with the next step', async () => {
    const own = pretend((socket) => socket.destroy())
    writeFileSync(own.paths.daemon, JSON.stringify({ pid: 1, port: 1, version: '0.0.1' }))
    const { code, stdout, stderr } = await own.cowork(['mcp'], {}, initialize)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/daemon \(version 0\.0\.1\) refused this bridge[^]*`cowork restart`/)
  })

  test('RA4 half of a line from a daemon that dies is not for the client', async () => {
    const own = pretend((socket) => {
      socket.write('{"cowork":3,"version":"99.0.0"}\nwhole\nhalf of a')
      setTimeout(() => socket.destroy(), 200)
    })
    const child = own.start(['mcp'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const nextLine = lineReader(child)
    // The next connection gets the complete answer again.
    expect([await nextLine(), await nextLine()]).toEqual(['whole', 'whole'])
  })
})
