import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeAll } from '#base/descriptors.ts'
import type { DescriptorPassing, Received } from '#base/descriptors.ts'
import { openEnds } from './ends.ts'
import type { Hello } from './mcp/connections.ts'

/** What a bridge begins with. */
type Greeting = {
  readonly hello: Hello
  /** Whether it wants to give its ends away, and waits to hear if they were taken. */
  readonly offersEnds: boolean
  /** None or two, for whoever gets the greeting to close. */
  readonly descriptors: readonly number[]
}

const mostHello = 8192
const helloWithin = 5000
const longestWait = 64

/** Who is there, and by which ends it speaks if not by the socket. A bridge that offers them hears which it is. */
export async function welcome(socket: Socket, passing: DescriptorPassing | null) {
  const { hello, offersEnds, descriptors } = await readHello(socket, passing)
  const ends = descriptors.length > 0 ? openEnds(descriptors) : undefined
  if (offersEnds) socket.write(ends ? 'taken\n' : 'pipe\n')
  return { hello, ends }
}

/** Reads a line from a paused socket and leaves what follows it, and the socket paused. */
async function readHello(socket: Socket, passing: DescriptorPassing | null): Promise<Greeting> {
  const deadline = Date.now() + helloWithin
  const descriptors: number[] = []
  let read = Buffer.alloc(0)
  try {
    for (;;) {
      const more = passing
        ? await receive(socket, passing, deadline)
        : { bytes: await nextChunk(socket, deadline), descriptors: [] }
      descriptors.push(...more.descriptors)
      if (more.bytes.length === 0) throw new Error('it closed before its hello')
      read = Buffer.concat([read, more.bytes])
      const end = read.indexOf('\n')
      if (end > mostHello || (end === -1 && read.length > mostHello))
        throw new Error('its hello is too long')
      if (end === -1) continue
      const greeting = { ...parseHello(read.subarray(0, end).toString('utf8')), descriptors }
      if (descriptors.length !== 0 && !(descriptors.length === 2 && greeting.offersEnds))
        throw new Error('its descriptors are not two ends')
      if (end + 1 < read.length) socket.unshift(read.subarray(end + 1))
      return greeting
    }
  } catch (error) {
    closeAll(descriptors)
    throw error
  }
}

/**
 * Node cannot tell when a socket has something to read without reading it, and a plain read would throw the
 * descriptors away. The hello comes at once, so asking for it again soon costs little.
 */
async function receive(
  socket: Socket,
  passing: DescriptorPassing,
  deadline: number,
): Promise<Received> {
  for (let wait = 1; ; wait = Math.min(2 * wait, longestWait)) {
    const received = passing.receive(socket, mostHello)
    if (received) return received
    if (Date.now() > deadline) throw new Error('no hello came')
    await sleep(wait)
  }
}

function nextChunk(socket: Socket, deadline: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no hello came')), deadline - Date.now())
    const ended = () => done(Buffer.alloc(0))
    function done(chunk: Buffer) {
      clearTimeout(timer)
      socket.pause()
      socket.off('data', done).off('end', ended).off('close', ended)
      resolve(chunk)
    }
    socket.on('data', done).on('end', ended).on('close', ended)
    socket.resume()
  })
}

/** Version 2 offers ends. A daemon that does not know it refuses, and is greeted with version 1. */
function parseHello(line: string): Omit<Greeting, 'descriptors'> {
  const said: unknown = JSON.parse(line)
  const version = typeof said === 'object' && said !== null && 'cowork' in said && said.cowork
  if (version !== 1 && version !== 2) throw new Error('its hello is not of this version')
  const text = (name: string) => {
    const value = (said as Record<string, unknown>)[name]
    return typeof value === 'string' && value !== '' ? { [name]: value } : {}
  }
  const hello = { ...text('token'), ...text('agent'), ...text('session') }
  return { hello, offersEnds: version === 2 }
}
