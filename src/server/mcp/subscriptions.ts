import { isJSONRPCRequest } from '@modelcontextprotocol/server'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import type { Credentials, BoundCredentials, ServerDeps } from './server.ts'

/** What clients of the newer era listen to: the SDK tells them of it, and here it is watched for them. */
export function createSubscriptions({
  identity,
  features = [],
}: Pick<ServerDeps, 'identity' | 'features'>) {
  const streams = new Set<Stream>()

  /**
   * Over HTTP a request to listen is a stream of its own. It is answered by the message with the addresses that are
   * watched for whoever asks: the SDK acknowledges what it is given, and tells of it. That waits, so that what changes
   * after it is told.
   */
  async function stream(
    message: unknown,
    credentials: Credentials,
    gone: AbortSignal,
    answer: (message: unknown) => Promise<Response>,
  ): Promise<Response> {
    const life = new AbortController()
    const { signal } = life
    const end = () => life.abort()
    const open = { held: credentials, end }
    // Before it is asked what there is to watch: a token that ends meanwhile must not be missed.
    streams.add(open)
    signal.addEventListener('abort', () => streams.delete(open))
    if (gone.aborted) end()
    else gone.addEventListener('abort', end, { once: true })
    try {
      const uris = listenedIn(message)
      const known = uris && withListened(message, await watched(uris, credentials, signal))
      const response = await answer(known ?? message)
      const { body, headers } = response
      if (body && headers.get('content-type')?.startsWith('text/event-stream'))
        return new Response(livingWith(life, body), response)
      end()
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  async function watched(
    uris: readonly string[],
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { principal: _, ...presented } = credentials
    const caller = await identity.identify({ door: 'mcp', ...presented })
    const found: string[] = []
    for (const feature of features)
      found.push(...((await feature.listens?.(caller, uris, signal)) ?? []))
    return found
  }

  /** Of one connection on which requests come and go: what is watched for one of them ends with it. */
  function over(credentials: Credentials, deliver: (message: JSONRPCMessage) => void) {
    const open = new Map<unknown, AbortController>()

    /** Taken back by the client, refused, or answered: the id of any other request is none of ours. */
    function end(id: unknown): void {
      open.get(id)?.abort()
      open.delete(id)
    }

    return {
      end,
      /** False where it is not for here, or the SDK has to hear it as it is. */
      take(message: unknown): boolean {
        if (methodOf(message) === 'notifications/cancelled')
          end((message as Cancelled).params?.requestId)
        const uris = listenedIn(message)
        if (!uris || !isJSONRPCRequest(message)) return false
        const life = new AbortController()
        // The SDK, too, lets the later one of two with the same id stand for both.
        end(message.id)
        open.set(message.id, life)
        void watched(uris, credentials, life.signal)
          .catch(() => [])
          .then((known) => {
            // Who took it back while it was looked at would be told for ever.
            if (!life.signal.aborted) deliver(withListened(message, known) as JSONRPCMessage)
          })
        return true
      },
      close: () => [...open.keys()].forEach(end),
    }
  }

  return { stream, streams: (): Iterable<Stream> => streams, over }
}

type Stream = { readonly held: BoundCredentials; end(): void }

/** Ends with the life, and the life with it. */
function livingWith(
  life: AbortController,
  body: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  // One that broke has nothing left to be told.
  const stop = () => void reader.cancel().catch(() => undefined)
  if (life.signal.aborted) stop()
  else life.signal.addEventListener('abort', stop, { once: true })
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          life.abort()
          controller.close()
        } catch (error) {
          life.abort()
          throw error
        }
      },
      cancel: () => life.abort(),
    },
    { highWaterMark: 0 },
  )
}

const methodOf = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'method' in message
    ? message.method
    : undefined

type Cancelled = { readonly params?: { readonly requestId?: unknown } | null }

export const isSubscribeRequest = (message: unknown): boolean =>
  methodOf(message) === 'subscriptions/listen'

const mostListened = 100

type Listen = { readonly params: { readonly notifications: Readonly<Record<string, unknown>> } }

/** The addresses whose change a client of the newer era asks to hear of. What is malformed is the SDK's to refuse. */
function listenedIn(message: unknown): string[] | undefined {
  if (!isSubscribeRequest(message)) return undefined
  const { params } = message as {
    params?: { notifications?: { resourceSubscriptions?: unknown } | null } | null
  }
  const uris: unknown = params?.notifications?.resourceSubscriptions
  const isWhole = Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')
  return isWhole && uris.length > 0 ? uris.slice(0, mostListened) : undefined
}

/** Of a message that has some. */
function withListened(message: unknown, uris: readonly string[]): unknown {
  const { params, ...rest } = message as Listen
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { ...rest, params: { ...params, notifications } }
}
