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

const maxCompletions = 100
const maxWatches = 1000
const maxWatchesPerCaller = 250
const hint = { ttlMs: 1000, cacheScope: 'private' } as const

/** Serves the resources of all sources and the completion of their URIs (SV13). */
export function resourceFeature(
  sources: readonly ResourceSource[],
  canUse: (caller: Caller, tool: string) => boolean,
): McpFeature & { close(): void } {
  const alwaysWatched = new Set(sources.flatMap((source) => source.watched ?? []))
  /** Legacy subscribers and the functions that end their watches; the SDK tracks those of current clients. */
  const subscribers = new Map<string, Map<Server, () => void>>()
  const watches = new Set<() => void>()
  const hooked = new WeakSet<Server>()
  /** Watches per caller. */
  const counts = new Map<string, number>()
  const stops: (() => void)[] = [() => watches.forEach((end) => end())]
  const isOpenTo = (caller: Caller, { tool }: ResourceSource) =>
    tool === undefined || canUse(caller, tool)
  const findSource = (caller: Caller, uri: string) =>
    sources.find((source) => uri.startsWith(source.prefix) && isOpenTo(caller, source))
  const canBeWatched = alwaysWatched.size > 0 || sources.some(({ watch }) => watch)

  /** Returns the function that ends the watch, or undefined if the URI cannot be watched or a limit is reached. */
  async function watch(caller: Caller, uri: string): Promise<(() => void) | undefined> {
    if (alwaysWatched.has(uri) && findSource(caller, uri)) return () => {}
    const count = counts.get(caller.id) ?? 0
    if (watches.size >= maxWatches || count >= maxWatchesPerCaller) return undefined
    let stop: (() => void) | undefined
    const end = () => {
      if (!watches.delete(end)) return
      const left = (counts.get(caller.id) ?? 1) - 1
      if (left > 0) counts.set(caller.id, left)
      else counts.delete(caller.id)
      stop?.()
    }
    // Counted before the watch starts: requests arrive concurrently.
    watches.add(end)
    counts.set(caller.id, count + 1)
    try {
      stop = await findSource(caller, uri)?.watch?.(caller, uri)
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
        `Cannot watch ${uri.slice(0, 200)}: unknown URI or too many watches. Always available: ${[...alwaysWatched].join(', ')}.`,
      )
    unsubscribe(uri, server)
    unsubscribeOnClose(server)
    subscribers.set(uri, (subscribers.get(uri) ?? new Map<Server, () => void>()).set(server, end))
  }

  function unsubscribeOnClose(server: Server): void {
    if (hooked.has(server)) return
    hooked.add(server)
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
            // Sending fails if the session has ended.
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
        const resource = await findSource(caller, uri)
          ?.read(caller, uri)
          .catch((error: unknown) => {
            throw error instanceof CoworkError ? toProtocolError(error) : error
          })
        if (!resource) throw new ResourceNotFoundError(uri)
        const { notes = [], ...content } = resource
        const noteContents = notes.map((note) => ({
          uri,
          mimeType: 'text/plain',
          text: `[${note}]`,
        }))
        return { contents: [{ uri, ...content }, ...noteContents] }
      })
      server.setRequestHandler('completion/complete', async ({ params }, context) => {
        const caller = await viewer.caller(context)
        const { ref } = params
        const source = ref.type === 'ref/resource' ? findSource(caller, ref.uri) : undefined
        const { name, value } = params.argument
        const all = await source?.complete?.(caller, name, value)
        const values = (all ?? []).slice(0, maxCompletions)
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
    async subscribe(caller, uris, signal) {
      const ends = await Promise.all(uris.map((uri) => watch(caller, uri)))
      const endAll = () => ends.forEach((end) => end?.())
      if (signal.aborted) endAll()
      else signal.addEventListener('abort', endAll, { once: true })
      return uris.filter((_, index) => ends[index])
    },
    close() {
      for (const stop of stops.splice(0)) stop()
    },
  }
}
