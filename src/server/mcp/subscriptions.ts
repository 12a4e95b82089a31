import { isJSONRPCRequest } from '@modelcontextprotocol/server'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import type { Credentials, BoundCredentials, ServerDeps } from './server.ts'

/**
 * Manages the subscriptions of current clients: the SDK sends the notifications, the features
 * watch the URIs.
 */
export function createSubscriptions({
  identity,
  features = [],
}: Pick<ServerDeps, 'identity' | 'features'>) {
  const streams = new Set<Stream>()

  /**
   * Serves a subscription over HTTP, which is a separate stream. The request is replaced by one
   * with the URIs that are really watched, because the SDK acknowledges what it receives. Watching
   * starts first, so later changes are sent.
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
    const open = { credentials, end }
    // Registered before the watches start, so a token that ends in between is not missed.
    streams.add(open)
    signal.addEventListener('abort', () => streams.delete(open))
    if (gone.aborted) end()
    else gone.addEventListener('abort', end, { once: true })
    try {
      const uris = readUris(message)
      const known = uris && replaceUris(message, await watchUris(uris, credentials, signal))
      const response = await answer(known ?? message)
      const { body, headers } = response
      if (body && headers.get('content-type')?.startsWith('text/event-stream'))
        return new Response(bindToSignal(life, body), response)
      end()
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  async function watchUris(
    uris: readonly string[],
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { principal: _, ...presented } = credentials
    const caller = await identity.identify({ door: 'mcp', ...presented })
    const found: string[] = []
    for (const feature of features)
      found.push(...((await feature.subscribe?.(caller, uris, signal)) ?? []))
    return found
  }

  /** Manages the subscriptions of one connection; the watches of a request end with it. */
  function forConnection(credentials: Credentials, deliver: (message: JSONRPCMessage) => void) {
    const open = new Map<unknown, AbortController>()

    /**
     * Ends a subscription that was cancelled, refused or answered; ids of other requests are
     * ignored.
     */
    function end(id: unknown): void {
      open.get(id)?.abort()
      open.delete(id)
    }

    return {
      end,
      /** Returns false for a message that the SDK must handle unchanged. */
      take(message: unknown): boolean {
        if (getMethod(message) === 'notifications/cancelled')
          end((message as Cancelled).params?.requestId)
        const uris = readUris(message)
        if (!uris || !isJSONRPCRequest(message)) return false
        const life = new AbortController()
        // Like in the SDK, the later of two requests with the same id replaces the earlier one.
        end(message.id)
        open.set(message.id, life)
        void watchUris(uris, credentials, life.signal)
          .catch(() => [])
          .then((known) => {
            // The client cancelled during the setup; otherwise it would be notified forever.
            if (!life.signal.aborted) deliver(replaceUris(message, known) as JSONRPCMessage)
          })
        return true
      },
      close: () => [...open.keys()].forEach(end),
    }
  }

  return { stream, streams: (): Iterable<Stream> => streams, forConnection }
}

type Stream = { readonly credentials: BoundCredentials; end(): void }

/** Links a stream to an AbortController: each ends the other. */
function bindToSignal(
  life: AbortController,
  body: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  // A broken stream needs no end.
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

const getMethod = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'method' in message
    ? message.method
    : undefined

type Cancelled = { readonly params?: { readonly requestId?: unknown } | null }

export const isSubscribeRequest = (message: unknown): boolean =>
  getMethod(message) === 'subscriptions/listen'

const maxUris = 100

type SubscribeRequest = {
  readonly params: { readonly notifications: Readonly<Record<string, unknown>> }
}

/** Reads the URIs of a subscription request. Malformed requests are left to the SDK. */
function readUris(message: unknown): string[] | undefined {
  if (!isSubscribeRequest(message)) return undefined
  const { params } = message as {
    params?: { notifications?: { resourceSubscriptions?: unknown } | null } | null
  }
  const uris: unknown = params?.notifications?.resourceSubscriptions
  const isValid = Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')
  return isValid && uris.length > 0 ? uris.slice(0, maxUris) : undefined
}

/** Replaces the URIs in a subscription request. */
function replaceUris(message: unknown, uris: readonly string[]): unknown {
  const { params, ...rest } = message as SubscribeRequest
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { ...rest, params: { ...params, notifications } }
}
