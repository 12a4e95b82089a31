import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import type { Server } from '@modelcontextprotocol/server'
import type { Caller } from '#base/caller.ts'
import { CoworkError } from '#base/errors.ts'
import type { ResourceSource } from '#base/resource.ts'
import { toProtocolError } from './mcp/results.ts'
import type { McpFeature } from './mcp/server.ts'

const mostCompletions = 100
const mostWatches = 1000
const mostOfOne = 250
const hint = { ttlMs: 1000, cacheScope: 'private' } as const

/** Resources and the completion of their addresses (SV13), from whatever sources the domains give. */
export function resourceFeature(
  sources: readonly ResourceSource[],
  canUse: (caller: Caller, tool: string) => boolean,
): McpFeature & { close(): void } {
  const always = new Set(sources.flatMap((source) => source.watched ?? []))
  /** The older era's subscribers and how their watch ends; the newer era's are known to the SDK. */
  const subscribers = new Map<string, Map<Server, () => void>>()
  const watches = new Set<() => void>()
  const ending = new WeakSet<Server>()
  /** How many each caller has. */
  const counts = new Map<string, number>()
  const stops: (() => void)[] = [() => watches.forEach((end) => end())]
  const isOpenTo = (caller: Caller, { tool }: ResourceSource) =>
    tool === undefined || canUse(caller, tool)
  const sourceFor = (caller: Caller, uri: string) =>
    sources.find((source) => uri.startsWith(source.prefix) && isOpenTo(caller, source))
  const canBeWatched = always.size > 0 || sources.some(({ watch }) => watch)

  /** How to end it; nothing where it cannot be watched, or too much is. */
  async function watch(caller: Caller, uri: string): Promise<(() => void) | undefined> {
    if (always.has(uri) && sourceFor(caller, uri)) return () => {}
    const count = counts.get(caller.id) ?? 0
    if (watches.size >= mostWatches || count >= mostOfOne) return undefined
    let stop: (() => void) | undefined
    const end = () => {
      if (!watches.delete(end)) return
      const left = (counts.get(caller.id) ?? 1) - 1
      if (left > 0) counts.set(caller.id, left)
      else counts.delete(caller.id)
      stop?.()
    }
    // Counted before it begins: many may be asked for at once.
    watches.add(end)
    counts.set(caller.id, count + 1)
    try {
      stop = await sourceFor(caller, uri)?.watch?.(caller, uri)
    } finally {
      if (!stop) end()
    }
    if (watches.has(end)) return end
    stop?.()
    return undefined
  }

  async function subscribe(caller: Caller, uri: string, server: Server): Promise<void> {
    const end = await watch(caller, uri)
    if (!end)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `${uri.slice(0, 200)} cannot be watched, or too much is. These always can: ${[...always].join(', ')}.`,
      )
    unsubscribe(uri, server)
    endWith(server)
    subscribers.set(uri, (subscribers.get(uri) ?? new Map<Server, () => void>()).set(server, end))
  }

  /** What a session watches ends with it. */
  function endWith(server: Server): void {
    if (ending.has(server)) return
    ending.add(server)
    const { onclose } = server
    server.onclose = () => {
      for (const uri of subscribers.keys()) unsubscribe(uri, server)
      onclose?.()
    }
  }

  function unsubscribe(uri: string, server: Server): void {
    const listening = subscribers.get(uri)
    listening?.get(server)?.()
    listening?.delete(server)
    if (listening?.size === 0) subscribers.delete(uri)
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
          for (const server of subscribers.get(uri)?.keys() ?? [])
            // A session that ended cannot be told, and need not be any more.
            server.sendResourceUpdated({ uri }).catch(() => unsubscribe(uri, server))
        })
        if (stop) stops.push(stop)
      }
    },
    attach(server, viewer) {
      server.setRequestHandler('resources/list', async (_, context) => {
        const caller = await viewer.caller(context)
        const open = sources.filter((source) => isOpenTo(caller, source))
        const lists = await Promise.all(open.map((source) => source.list(caller)))
        return { resources: lists.flat() }
      })
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: sources.flatMap(({ templates }) => [...templates]),
      }))
      server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
        const caller = await viewer.caller(context)
        const found = await sourceFor(caller, uri)
          ?.read(caller, uri)
          .catch((error: unknown) => {
            throw error instanceof CoworkError ? toProtocolError(error) : error
          })
        if (!found) throw new ResourceNotFoundError(uri)
        const { notes = [], ...content } = found
        const said = notes.map((note) => ({ uri, mimeType: 'text/plain', text: `[${note}]` }))
        return { contents: [{ uri, ...content }, ...said] }
      })
      server.setRequestHandler('completion/complete', async ({ params }, context) => {
        const caller = await viewer.caller(context)
        const { ref } = params
        const source = ref.type === 'ref/resource' ? sourceFor(caller, ref.uri) : undefined
        const { name, value } = params.argument
        const all = await source?.complete?.(caller, name, value)
        const values = (all ?? []).slice(0, mostCompletions)
        return { completion: { values, hasMore: (all?.length ?? 0) > values.length } }
      })
      server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
        await subscribe(await viewer.caller(context), uri, server)
        return {}
      })
      server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
        unsubscribe(uri, server)
        return {}
      })
    },
    async listens(caller, uris, signal) {
      const ends = await Promise.all(uris.map((uri) => watch(caller, uri)))
      const leave = () => ends.forEach((end) => end?.())
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
      return uris.filter((_, place) => ends[place])
    },
    close() {
      for (const stop of stops.splice(0)) stop()
    },
  }
}
