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
  const always = new Set(sources.flatMap((source) => source.watched ?? []))
  /** The older era's subscribers; the newer era's are known to the SDK. */
  const subscribers = new Map<string, Set<Server>>()
  const watches = createWatches((uri) => sourceOf(uri)?.watch?.(uri))
  const stops: (() => void)[] = [watches.close]
  const sourceOf = (uri: string) => sources.find(({ prefix }) => uri.startsWith(prefix))
  const canBeWatched = always.size > 0 || sources.some(({ watch }) => watch)

  function subscribe(uri: string, server: Server): void {
    const listening = subscribers.get(uri) ?? new Set()
    if (listening.has(server)) return
    if (!always.has(uri) && !watches.begin(uri))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `${uri.slice(0, 200)} cannot be watched. These can: ${[...always].join(', ')}.`,
      )
    subscribers.set(uri, listening.add(server))
  }

  function unsubscribe(uri: string, server: Server): void {
    const listening = subscribers.get(uri)
    if (!listening?.delete(server)) return
    if (!always.has(uri)) watches.end(uri)
    if (listening.size === 0) subscribers.delete(uri)
  }

  return {
    capabilities: { resources: { subscribe: canBeWatched }, completions: {} },
    cacheHints: {
      'resources/list': hint,
      'resources/templates/list': { ...hint, ttlMs: 60_000 },
      'resources/read': hint,
    },
    start({ resourceUpdated }) {
      for (const { onChange } of sources) {
        const stop = onChange?.((uri) => {
          resourceUpdated(uri)
          for (const server of subscribers.get(uri) ?? [])
            // A session that ended cannot be told, and need not be any more.
            server.sendResourceUpdated({ uri }).catch(() => unsubscribe(uri, server))
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
        subscribe(uri, server)
        return {}
      })
      server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
        unsubscribe(uri, server)
        return {}
      })
    },
    listens(uris, signal) {
      const begun = uris.filter((uri) => !always.has(uri) && watches.begin(uri))
      signal.addEventListener('abort', () => begun.forEach(watches.end), { once: true })
    },
    close() {
      for (const stop of stops.splice(0)) stop()
    },
  }
}

const mostWatches = 1000

/** Addresses that are looked after for as long as somebody watches them. */
function createWatches(start: (uri: string) => (() => void) | undefined) {
  const running = new Map<string, { watchers: number; readonly stop: () => void }>()
  return {
    /** False where it cannot be watched, or too much is. */
    begin(uri: string): boolean {
      const known = running.get(uri)
      if (known) known.watchers++
      else {
        const stop = running.size < mostWatches ? start(uri) : undefined
        if (!stop) return false
        running.set(uri, { watchers: 1, stop })
      }
      return true
    },
    end(uri: string): void {
      const known = running.get(uri)
      if (!known || --known.watchers > 0) return
      known.stop()
      running.delete(uri)
    },
    close(): void {
      for (const { stop } of running.values()) stop()
      running.clear()
    },
  }
}
