import type { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Server, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Log } from '#base/log.ts'
import { mostFileBytes } from '../limits.ts'
import { lineOf } from './line.ts'
import { idOf } from './replies.ts'

/** Serves one stdio connection: its first message decides the era. Ends when either side does. */
export async function serveLines(
  transport: LineTransport,
  log: Log,
  newServer: () => Server,
): Promise<void> {
  const handle = serveStdio(newServer, {
    transport,
    onerror: (error) => log.debug('a stdio connection had trouble', { error: error.message }),
  })
  await transport.ended
  await handle.close()
}

export type LineTransport = Transport & { readonly ended: Promise<void> }

/**
 * One JSON-RPC message a line. The SDK's own transport is silent about a line it cannot read and re-copies
 * its buffer with every chunk; this one answers, and goes on with the next line. The socket is its owner's
 * alone, so every line may be as long as a file is (SV25).
 */
export function createLineTransport(
  stream: Duplex,
  most = mostFileBytes,
  peek: (message: unknown) => void = () => undefined,
): LineTransport {
  const ended = Promise.withResolvers<void>()
  const decoder = new StringDecoder('utf8')
  let text = ''
  let size = 0
  let isOver = false

  function read(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at))
      take()
      from = at + 1
    }
    keep(chunk.subarray(from))
  }

  function keep(part: Buffer): void {
    size += part.length
    // The rest of a line that is too long is only counted, then refused as a whole.
    if (size > most) text = ''
    else text += decoder.write(part)
  }

  function take(): void {
    const isTooLong = size > most
    const line = (text + decoder.end()).trim()
    text = ''
    size = 0
    if (isTooLong)
      return complain(-32600, `A message may have ${most} bytes, and this one has more.`)
    if (line === '') return
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return complain(-32700, 'The line is not JSON.')
    }
    deliver(value)
  }

  function deliver(value: unknown): void {
    peek(value)
    try {
      transport.onmessage?.(parseJSONRPCMessage(value))
    } catch {
      complain(
        -32600,
        Array.isArray(value)
          ? 'Batches are not taken here: send one message a line.'
          : 'The line is not a JSON-RPC 2.0 message.',
        value,
      )
    }
  }

  function complain(code: number, message: string, about?: unknown): void {
    write({ jsonrpc: '2.0', id: idOf(about), error: { code, message } })
  }

  function write(message: object): void {
    let hasRoom = true
    for (const piece of lineOf(message)) hasRoom = stream.write(piece)
    // Who does not read its answers is not asked for more questions.
    if (hasRoom) return
    stream.pause()
    stream.once('drain', () => stream.resume())
  }

  const close = () => {
    if (isOver) return
    isOver = true
    stream.off('data', read)
    stream.end()
    transport.onclose?.()
    ended.resolve()
  }

  const transport: LineTransport = {
    ended: ended.promise,
    start() {
      stream.on('data', read)
      stream.on('error', (error) => transport.onerror?.(error))
      stream.once('end', close)
      stream.once('close', close)
      // Whoever read the hello before us has paused it.
      stream.resume()
      return Promise.resolve()
    },
    send(message) {
      if (!isOver) write(message)
      return Promise.resolve()
    },
    close: () => Promise.resolve(close()),
  }
  return transport
}
