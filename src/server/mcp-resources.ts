import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import type { Server } from '@modelcontextprotocol/server'
import type { ResourceSource } from '#base/resource.ts'
import type { McpFeature } from './mcp/server.ts'

const mostCompletions = 100
const hint = { ttlMs: 1000, cacheScope: 'private' } as const

/** Resources and the completion of their addresses (SV13), from whatever sources the domains give. */
export function resourceFeature(
  sources: readonly ResourceSource[],
): McpFeature & { close(): void } {
  const watched = new Set(sources.flatMap((source) => source.watched ?? []))
  /** The older era's subscribers; the newer era's are known to the SDK. */
  const subscribers = new Map<string, Set<Server>>([...watched].map((uri) => [uri, new Set()]))
  const stops: (() => void)[] = []
  const sourceOf = (uri: string) => sources.find(({ prefix }) => uri.startsWith(prefix))

  function watchersOf(uri: string): Set<Server> {
    const found = subscribers.get(uri)
    if (found) return found
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `${uri.slice(0, 200)} cannot be watched. These can: ${[...watched].join(', ')}.`,
    )
  }

  return {
    capabilities: { resources: { subscribe: watched.size > 0 }, completions: {} },
    cacheHints: {
      'resources/list': hint,
      'resources/templates/list': { ...hint, ttlMs: 60_000 },
      'resources/read': hint,
    },
    start({ resourceUpdated }) {
      for (const { onChange } of sources) {
        const stop = onChange?.((uri) => {
          resourceUpdated(uri)
          const listening = subscribers.get(uri) ?? new Set()
          for (const server of listening)
            // A session that ended cannot be told, and need not be any more.
            server.sendResourceUpdated({ uri }).catch(() => listening.delete(server))
        })
        if (stop) stops.push(stop)
      }
    },
    attach(server, viewer) {
      server.setRequestHandler('resources/list', async (_, context) => {
        const caller = await viewer.caller(context)
        const lists = await Promise.all(sources.map((source) => source.list(caller)))
        return { resources: lists.flat() }
      })
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: sources.flatMap(({ templates }) => [...templates]),
      }))
      server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
        const found = await sourceOf(uri)?.read(await viewer.caller(context), uri)
        if (!found) throw new ResourceNotFoundError(uri)
        return { contents: [{ uri, ...found }] }
      })
      server.setRequestHandler('completion/complete', async ({ params }, context) => {
        const source = params.ref.type === 'ref/resource' ? sourceOf(params.ref.uri) : undefined
        const { name, value } = params.argument
        const all = await source?.complete?.(await viewer.caller(context), name, value)
        const values = (all ?? []).slice(0, mostCompletions)
        return { completion: { values, hasMore: (all?.length ?? 0) > values.length } }
      })
      server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
        await viewer.caller(context)
        watchersOf(uri).add(server)
        return {}
      })
      server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
        watchersOf(uri).delete(server)
        return {}
      })
    },
    close() {
      for (const stop of stops.splice(0)) stop()
    },
  }
}
