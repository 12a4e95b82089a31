import { parseJSONRPCMessage } from '@modelcontextprotocol/server'
import type { Server, Transport } from '@modelcontextprotocol/server'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Credentials } from './server.ts'
import type { SessionOwner } from './sessions.ts'

export type LegacySseDeps = {
  readonly maxStreams: number
  /** The path for POST requests, relative to this server. */
  readonly messagesPath: string
  readonly log: Log
  /** True if the credentials of the stream are no longer valid. */
  readonly isOver: (holder: SessionOwner) => boolean
}

/** Taken from the last message: the client may use a newer token. */
type StreamOwner = Credentials & SessionOwner
type Stream = { holder: StreamOwner; readonly transport: Transport }

/**
 * Creates the HTTP+SSE transport of the 2024-11-05 revision (`TRANSPORT=sse`, SV6): one stream
 * carries all responses, messages arrive by POST. The stream id is not a credential: each request has
 * its own, and the stream belongs to the caller that opened it.
 */
export function createLegacySse({ maxStreams, messagesPath, log, isOver }: LegacySseDeps) {
  const streams = new Map<string, Stream>()

  async function open(
    holder: StreamOwner,
    serverFor: (id: string, held: () => StreamOwner) => Server,
  ): Promise<Response> {
    if (streams.size >= maxStreams)
      throw new CoworkError(
        'too_many_sessions',
        `Too many open streams: the limit is ${maxStreams}.`,
        {
          hint: 'Close unused streams, or retry later.',
        },
      )
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

  function post(id: string, holder: StreamOwner, body: unknown): Response {
    const stream = streams.get(id)
    if (stream?.holder.principal !== holder.principal)
      throw new CoworkError('unknown_session', 'Unknown stream.', {
        hint: 'Open a stream with GET /sse.',
      })
    stream.holder = holder
    try {
      stream.transport.onmessage?.(parseJSONRPCMessage(body))
    } catch (error) {
      log.debug('legacy client sent an invalid message', { error })
      throw new CoworkError('invalid_input', 'The body is not a JSON-RPC 2.0 message.', {
        hint: 'Send one message per request.',
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
