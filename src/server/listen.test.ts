import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { descriptorPassing } from '#base/descriptors.ts'
import { silentLog } from '#base/log.ts'
import { createRig } from '../../test/conformance/rig.ts'
import { openFifo, timesOpen } from '../../test/fifo.ts'
import { listen, listenSocket } from './listen.ts'

const passing = descriptorPassing()

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '0' },
  },
}
const initializeLine = `${JSON.stringify(initialize)}\n`

/** A socket with the real door behind it, and what is said there of connections that were refused. */
async function open(by = passing) {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-listen-'))
  const path = join(folder, 'daemon.sock')
  const refusals: unknown[] = []
  const warn = (_: string, data?: object) => void refusals.push((data as { error: string }).error)
  const rig = await createRig()
  const listening = await listenSocket(path, rig.door, { ...silentLog, warn }, by)
  onTestFinished(async () => {
    await rig.close()
    await listening.close()
    rmSync(folder, { recursive: true })
  })
  async function plug() {
    const socket = connect(path)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const nextLine = async () => String((await lines.next()).value)
    return { socket, nextLine }
  }
  return { plug, refusals, listening }
}

describe.each([
  ['as it comes with descriptors', passing],
  ['as bytes alone', null],
])('SV4 a hello is read %s', (_, by) => {
  test('SV4 a hello of version 1 may come in pieces, and MCP follows on the same socket', async () => {
    const { plug } = await open(by)
    const { socket, nextLine } = await plug()
    const all = `{"cowork":1,"agent":"a"}\n${initializeLine}`
    for (const piece of [all.slice(0, 5), all.slice(5, 40), all.slice(40)]) {
      socket.write(piece)
      await new Promise((done) => setTimeout(done, 5))
    }
    expect(JSON.parse(await nextLine())).toMatchObject({ id: 1, result: {} })
  })

  test('SV4 who offers ends and sends none is told to pipe', async () => {
    const { plug } = await open(by)
    const { socket, nextLine } = await plug()
    socket.write(`{"cowork":2}\n`)
    expect(await nextLine()).toBe('pipe')
    socket.write(initializeLine)
    expect(JSON.parse(await nextLine())).toMatchObject({ id: 1, result: {} })
  })

  test('SV4 who has said all it wants is still answered', async () => {
    const { plug } = await open(by)
    const { socket, nextLine } = await plug()
    socket.end(`{"cowork":1}\n${initializeLine}`)
    expect(JSON.parse(await nextLine())).toMatchObject({ id: 1, result: {} })
    await once(socket, 'close')
  })

  test.each([
    ['garbage\n', 'JSON'],
    ['{"cowork":3}\n', 'not of this version'],
    ['null\n', 'not of this version'],
    [`${'x'.repeat(9000)}\n`, 'too long'],
    ['x'.repeat(9000), 'too long'],
  ])('SV4 a hello that is none is refused: %#', async (said, why) => {
    const { plug, refusals } = await open(by)
    const { socket } = await plug()
    socket.resume().write(said)
    await once(socket, 'close')
    expect(refusals).toEqual([expect.stringContaining(why)])
  })

  test('SV4 who leaves before its hello is forgotten', async () => {
    const { plug, refusals } = await open(by)
    const { socket } = await plug()
    socket.end()
    await expect.poll(() => refusals).toEqual(['it closed before its hello'])
  })
})

// Where koffi is missing, or the system is another, none can come along.
describe.skipIf(!passing)('SV4 ends that come along', () => {
  if (!passing) return
  const offer = Buffer.from('{"cowork":2,"agent":"a"}\n')

  async function give() {
    const { plug, listening } = await open()
    const { socket, nextLine } = await plug()
    const [stdin, stdout] = [openFifo(), openFifo()]
    expect(passing?.send(socket, offer, [stdin.descriptor, stdout.descriptor])).toBe(true)
    expect(await nextLine()).toBe('taken')
    const timesTaken = () => timesOpen(stdin.path) + timesOpen(stdout.path) - 2
    return { socket, nextLine, stdin, stdout, timesTaken, listening }
  }

  async function answer({ descriptor }: { descriptor: number }) {
    const buffer = Buffer.alloc(10_000)
    let size = 0
    // The daemon has made it non-blocking for us too.
    await expect
      .poll(() => {
        try {
          size = readSync(descriptor, buffer)
        } catch {
          size = 0
        }
        return size
      })
      .toBeGreaterThan(0)
    return buffer.subarray(0, size).toString()
  }

  test('SV4 are read and written in place of the socket, until the bridge is gone', async () => {
    const { socket, stdin, stdout, timesTaken } = await give()
    writeSync(stdin.descriptor, initializeLine)
    expect(JSON.parse(await answer(stdout))).toMatchObject({ id: 1, result: {} })
    expect(timesTaken()).toBe(2)
    socket.destroy()
    await expect.poll(timesTaken).toBe(0)
  })

  test('SV4 are closed with the listener, and the bridge is not told that its client left', async () => {
    const { nextLine, timesTaken, listening } = await give()
    await listening.close()
    expect(await nextLine()).toBe('undefined')
    await expect.poll(timesTaken).toBe(0)
  })

  test.each([
    ['one', (fifo: number) => [fifo], 'not two ends'],
    ['three', (fifo: number) => [fifo, fifo, fifo], 'more descriptors'],
    ['a file among them', (fifo: number, file: number) => [fifo, file], 'not pipes'],
    ['a file first', (fifo: number, file: number) => [file, fifo], 'not pipes'],
  ])('SV4 are refused and closed: %s', async (_, choose, why) => {
    const { plug, refusals } = await open()
    const { socket } = await plug()
    const fifo = openFifo()
    const path = join(import.meta.dirname, 'listen.ts')
    const file = openSync(path, 'r')
    onTestFinished(() => closeSync(file))
    passing.send(socket, offer, choose(fifo.descriptor, file))
    await once(socket.resume(), 'close')
    expect(refusals).toEqual([expect.stringContaining(why)])
    expect([timesOpen(fifo.path), timesOpen(path)]).toEqual([1, 1])
  })

  test('SV4 of a hello that is none, or of a bridge that offers none, are closed', async () => {
    const { plug } = await open()
    const fifo = openFifo()
    const said = fc.oneof(fc.constantFrom('{"cowork":1}\n', '{"cowork":2', 'long'), fc.string())
    const pieces = fc.array(fc.tuple(said, fc.nat(3)), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(pieces, async (all) => {
        const { socket } = await plug()
        const closed = new Promise((done) => socket.resume().on('close', done))
        for (const [piece, count] of all) {
          const bytes = Buffer.from(piece === 'long' ? 'x'.repeat(10_000) : `${piece} `)
          const descriptors = Array.from({ length: count }, () => fifo.descriptor)
          if (count > 0) passing.send(socket, bytes, descriptors)
          else socket.write(bytes)
        }
        socket.end()
        await closed
        await expect.poll(() => timesOpen(fifo.path)).toBe(1)
      }),
      { numRuns: 40 },
    )
  })
})

test('RS4 a connection that sends many requests at once is ended; a few are answered', async () => {
  let served = 0
  const fetch = async () => {
    served++
    return new Response('ok')
  }
  const { port, close } = await listen(fetch, {
    host: 'localhost',
    port: 0,
    headerBytes: 16_384,
    bodySeconds: 10,
    insecureBind: false,
    closedMode: false,
  })
  onTestFinished(close)
  async function send(count: number): Promise<number> {
    const before = served
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    const last = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    socket.resume().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count - 1) + last)
    await once(socket, 'close')
    return served - before
  }
  expect(await send(5)).toBe(5)
  expect(await send(400)).toBeLessThan(20)
})
