import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Server, Transport } from '@modelcontextprotocol/server'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Credentials } from './server.ts'
import type { SessionOwner } from './sessions.ts'

export type LegacySseDeps = {
  readonly maxStreams: number
  /** Where the client posts to, relative to this server. */
  readonly messagesPath: string
  readonly log: Log
  /** What its token opened is over. */
  readonly isOver: (holder: SessionOwner) => boolean
}

/** As it came with the last message: the client may have moved to a newer token. */
type Known = Credentials & SessionOwner
type Stream = { holder: Known; readonly transport: Transport }

/**
 * HTTP+SSE of the 2024-11-05 revision, for clients that know nothing newer (`TRANSPORT=sse`, SV6): one
 * stream carries all answers, messages come by POST. The id of a stream names it and lets nobody in: each
 * request brings its credential, and the stream belongs to whoever opened it.
 */
export function createLegacySse({ maxStreams, messagesPath, log, isOver }: LegacySseDeps) {
  const streams = new Map<string, Stream>()

  async function open(
    holder: Known,
    serverFor: (id: string, held: () => Known) => Server,
  ): Promise<Response> {
    if (streams.size >= maxStreams)
      throw new CoworkError('too_many_sessions', `All ${maxStreams} streams are taken.`, {
        hint: 'Try again later.',
      })
    const id = newId()
    const encoder = new TextEncoder()
    let say = (_event: string, _data: string) => {}
    let close = () => {}
    let isOpen = true
    const transport: Transport = {
      start: () => Promise.resolve(),
      send: (message) => Promise.resolve(say('message', JSON.stringify(message))),
      close: () => Promise.resolve(end()),
    }
    function end() {
      if (!isOpen) return
      isOpen = false
      streams.delete(id)
      close()
      transport.onclose?.()
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        say = (event, data) => {
          if (isOpen) controller.enqueue(encoder.encode(`event: ${event}\ndata: ${data}\n\n`))
        }
        close = () => controller.close()
        say('endpoint', `${messagesPath}?session=${id}`)
      },
      cancel() {
        close = () => {}
        end()
      },
    })
    const stream: Stream = { holder, transport }
    streams.set(id, stream)
    await serverFor(id, () => stream.holder).connect(transport)
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  }

  function post(id: string, holder: Known, body: unknown): Response {
    const stream = streams.get(id)
    if (stream?.holder.principal !== holder.principal)
      throw new CoworkError('unknown_session', 'There is no such stream.', {
        hint: 'Open one with GET /sse.',
      })
    stream.holder = holder
    try {
      stream.transport.onmessage?.(parseJSONRPCMessage(body))
    } catch (error) {
      log.debug('an old client sent what is no message', { error })
      throw new CoworkError('invalid_input', 'The body is not a JSON-RPC 2.0 message.', {
        hint: 'Send one message a request.',
      })
    }
    return new Response('Accepted', { status: 202 })
  }

  return {
    open,
    post,
    sweep(): void {
      for (const { holder, transport } of streams.values())
        if (isOver(holder)) void transport.close()
    },
    close: () => Promise.all([...streams.values()].map(({ transport }) => transport.close())),
  }
}
