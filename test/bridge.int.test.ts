// `cowork mcp` between real clients and a real daemon, however the client's stdio is made.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { descriptorPassing } from '../src/base/descriptors.ts'
import { proposal } from './acts.ts'
import { ended, launcher, lineReader, newPlace, testPlace } from './cli.ts'
import { openFifo, openFiles } from './fifo.ts'
import { newFolder } from './files.ts'

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
  result: { content?: { text?: string }[]; structuredContent?: { next_byte?: number } }
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
beforeAll(() => place.cowork(['up', '-d']))
afterAll(async () => {
  await place.end()
  rmSync(folder, { recursive: true })
})

/** A client of Node's kind, which is at the other end of two sockets. */
async function startClient(where = place) {
  const child = where.start(['mcp'])
  onTestFinished(() => void child.kill('SIGKILL'))
  const nextLine = lineReader(child)
  child.stdin.on('error', () => undefined)
  child.stdin.write(initialize)
  expect(answerIn(await nextLine()).id).toBe(1)
  return { child, nextLine }
}

/** Which of its ends the daemon has open, by the names the kernel has for them. */
function endsOf({ pid = 0 }: ChildProcess, daemon = place.daemon().pid) {
  const names = [0, 1].map((end) => readlinkSync(`/proc/${pid}/fd/${end}`))
  return { taken: () => openFiles(daemon).filter((name) => names.includes(name)).length }
}

/** Whether a read or write waits for its turn, for everyone who has this pipe. */
function isWaited({ descriptor }: { descriptor: number }): boolean {
  const [, flags = ''] =
    /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? []
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) === 0
}

describe.skipIf(!descriptorPassing())('SV4 the daemon has the ends', () => {
  test('SV4 of a client with sockets, until it closes its stdin', async () => {
    const { child, nextLine } = await startClient()
    const { taken } = endsOf(child)
    expect(taken()).toBe(2)
    child.stdin.write(note(2))
    expect(answerIn(await nextLine()).id).toBe(2)
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    await expect.poll(taken).toBe(0)
  })

  test('SV4 of a client with pipes', async () => {
    const [stdin, stdout] = [openFifo(), openFifo()]
    const stdio = [stdin.descriptor, stdout.descriptor, 'ignore'] as const
    const child = spawn(process.execPath, [launcher, 'mcp'], { env: place.env, stdio: [...stdio] })
    const { taken } = endsOf(child)
    await expect.poll(taken).toBe(2)
    writeSync(stdin.descriptor, initialize)
    // The reader of the named pipe: a program that waits for a line.
    const reader = spawn('head', ['-n', '1', stdout.path], { stdio: ['pipe', 'pipe', 'pipe'] })
    expect(idsIn((await ended(reader)).stdout)).toEqual([1])
    expect(isWaited(stdout)).toBe(false)
    child.kill('SIGTERM')
    await once(child, 'exit')
    await expect.poll(taken).toBe(0)
    // Others who have it find it as it was.
    expect(isWaited(stdout)).toBe(true)
  })

  test('SV4 until the bridge is killed, and the client hears the end', async () => {
    const { child, nextLine } = await startClient()
    const { taken } = endsOf(child)
    child.kill('SIGKILL')
    await expect(nextLine()).rejects.toThrow('the output ended')
    await expect.poll(taken).toBe(0)
  })

  test('SV4 until the client reads no more', async () => {
    const { child } = await startClient()
    const { taken } = endsOf(child)
    const exited = once(child, 'exit')
    child.stdout.destroy()
    child.stdin.write(note(2))
    expect(await exited).toEqual([0, null])
    await expect.poll(taken).toBe(0)
  })

  test('SV4 until it is killed, and the bridge ends with it', async () => {
    const own = testPlace()
    await own.cowork(['up', '-d'])
    const { child, nextLine } = await startClient(own)
    const { pid } = own.daemon()
    expect(endsOf(child, pid).taken()).toBe(2)
    const exited = once(child, 'exit')
    process.kill(pid, 'SIGKILL')
    expect(await exited).toEqual([8, null])
    await expect(nextLine()).rejects.toThrow('the output ended')
  })
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
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await expect.poll(() => said).toContain('proposal_id')
  const id = /proposal_id\W+([\w-]+)/.exec(said)?.[1]
  child.stdin.write(call(3, 'cowork_check_approval', { proposal_id: id, wait_seconds: 20 }))
  child.stdin.write(note(4))
  await expect.poll(() => said).toContain('"id":4')
  await own.cowork(['agents', 'revoke', 'sales'])
  const { code, stdout, stderr } = await result
  expect(idsIn(stdout)).toEqual([1, 2, 3, 4])
  expect(stdout).toContain('auth_error')
  if (!descriptorPassing()) return
  expect(code).toBe(4)
  expect(stderr).toMatch(/token .* revoked[^]*cowork agents add/)
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
  let said = ''
  stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  expect(await once(child, 'close')).toEqual([0, null])
  expect(idsIn(said)).toEqual([1, 2, 3])

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
      read += result.content?.[0]?.text
      byte_from = result.structuredContent?.next_byte
    }
    expect(read === content).toBe(true)
  }
})

test('F4 SV12 whatever is asked for, the official client keeps its connection', async () => {
  const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(8_999_992)])
  const paths = upTo(5).map((n) => join(folder, `${n}.png`))
  for (const path of paths) writeFileSync(path, picture.subarray(0, 3_000_000))
  const [large, log, quotes] = ['large.png', 'large.log', 'quotes.txt'].map((name) =>
    join(folder, name),
  )
  writeFileSync(large ?? '', picture)
  writeFileSync(log ?? '', 'line\n'.repeat(3_000_000))
  writeFileSync(quotes ?? '', '"'.repeat(9_000_000))
  const client = new Client({ name: 'test', version: '1' })
  const args = [launcher, 'mcp']
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env: { ...place.env, PATH: process.env['PATH'] ?? '' },
    }),
  )
  onTestFinished(() => client.close())
  const ask = async (name: string, given: Record<string, unknown>) => {
    const { isError, content } = await client.callTool({ name, arguments: given })
    return isError ? (content as { text: string }[])[0]?.text : 'given'
  }
  expect(await ask('read_file', { path: large })).toContain('max_bytes 7000000')
  expect(await ask('read_file', { path: large, byte_from: 0, max_bytes: 2e7 })).toBe('given')
  expect(await ask('read_files', { paths })).toBe('given')
  expect(await ask('read_file', { path: log, max_bytes: 2e7 })).toBe('given')
  // Each of these letters takes two on the way.
  expect(await ask('read_file', { path: quotes, max_bytes: 2e7 })).toContain('too_large')
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

describe('SV4 a daemon that does not take the ends', () => {
  /** Answers each hello as it is told, and then repeats what it hears. */
  function pretend(answer: (version: number) => string | undefined) {
    const own = newPlace()
    const server = createServer((socket) => {
      socket.once('data', (first: Buffer) => {
        // What the client says may come along.
        const end = first.indexOf('\n') + 1
        const hello = JSON.parse(first.subarray(0, end).toString()) as { cowork: number }
        const said = answer(hello.cowork)
        if (said === undefined) return socket.destroy()
        socket.write(said)
        socket.write(first.subarray(end))
        return socket.pipe(socket)
      })
    })
    server.listen(own.paths.socket)
    onTestFinished(() => {
      server.close()
      rmSync(own.state, { recursive: true })
    })
    return own.cowork(['mcp'], {}, 'one\ntwo\n')
  }

  test.each([
    ['says so', () => 'pipe\n'],
    ['is of an older version', (version: number) => (version === 1 ? '' : undefined)],
  ])('SV4 gets every byte over the socket when it %s', async (_, answer) => {
    const { code, stdout } = await pretend(answer)
    // Where nothing can be given, version 1 is all there is, and the answer is for the client.
    const isPlain = !descriptorPassing()
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${isPlain ? answer(1) : ''}one\ntwo\n` })
  })
})
