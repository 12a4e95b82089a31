import { isJSONRPCRequest } from '@modelcontextprotocol/server'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { cancelledIn } from './direct.ts'
import type { Credentials, ServerDeps } from './server.ts'

/** What clients of the newer era listen to: the SDK tells them of it, and here it is watched for them. */
export function createListens({
  identity,
  features = [],
}: Pick<ServerDeps, 'identity' | 'features'>) {
  /**
   * Nothing where nobody asks for it. Otherwise the same message with the addresses that are watched for whoever
   * asks: the SDK acknowledges what it is given, and tells of it. It waits, so that what changes after it is told.
   */
  function heard(
    message: unknown,
    credentials: Credentials,
    signal: AbortSignal,
  ): Promise<unknown> | undefined {
    const uris = listenedIn(message)
    return uris && watched(uris, credentials, signal).then((known) => withListened(message, known))
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
        const cancelled = cancelledIn(message)
        if (cancelled) end(cancelled.id)
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

  return { heard, over }
}

const mostListened = 100

type Listen = { readonly params: { readonly notifications: Readonly<Record<string, unknown>> } }

/** The addresses whose change a client of the newer era asks to hear of. What is malformed is the SDK's to refuse. */
function listenedIn(message: unknown): string[] | undefined {
  if (typeof message !== 'object' || message === null || !('method' in message)) return undefined
  if (message.method !== 'subscriptions/listen' || !('params' in message)) return undefined
  const { notifications } = (message.params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown }
  }
  const uris: unknown = notifications?.resourceSubscriptions
  const isWhole = Array.isArray(uris) && uris.every((uri) => typeof uri === 'string')
  return isWhole && uris.length > 0 ? uris.slice(0, mostListened) : undefined
}

/** Of a message that has some. */
function withListened(message: unknown, uris: readonly string[]): unknown {
  const { params, ...rest } = message as Listen
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { ...rest, params: { ...params, notifications } }
}
