import { readEnvelope } from './message-line.ts'
import type { Id } from './message-line.ts'
import { parseJson } from './output.ts'

export type Outage = { readonly code: string; readonly message: string; readonly hint: string }

type SessionOptions = {
  toClient(line: string | Buffer): void
  toDaemon(line: string | Buffer): void
  outage(): Outage
}

type Message = Readonly<Record<string, unknown>> & { readonly params?: Params }
type Params = Readonly<Record<string, unknown>>

type OpenRequest = {
  readonly method: string
  /** Stored only for requests that are sent again to the next daemon. */
  readonly line?: Buffer
  /** The client knows that this `subscriptions/listen` is open. */
  isAcknowledged?: boolean
}

/** Requests that start or keep a session and change nothing. They are sent again to the next daemon. */
const resentMethods = new Set(['initialize', 'server/discover', 'subscriptions/listen'])

const outcomeUnknown: Outage = {
  code: 'outcome_unknown',
  message: 'The cowork daemon stopped during this call, so the outcome is unknown.',
  hint: 'Check what the call did before you repeat it.',
}

/** List kinds, with their names in capabilities and in `subscriptions/listen`. */
const listKinds = [
  { kind: 'tools', filter: 'toolsListChanged' },
  { kind: 'prompts', filter: 'promptsListChanged' },
  { kind: 'resources', filter: 'resourcesListChanged' },
] as const

const subscriptionIdKey = 'io.modelcontextprotocol/subscriptionId'

/**
 * One MCP session of a client over several connections to the daemon (RA4). Lines pass unchanged. The session stores
 * what a new connection needs: the handshake, subscriptions and unanswered requests.
 */
export function createBridgeSession({ toClient, toDaemon, outage }: SessionOptions) {
  let isConnected = false
  /** No daemon started in time: requests are refused immediately until one starts. */
  let hasGivenUp = false
  /** The answered `initialize` request and the notification that follows it. */
  let handshake: Buffer | undefined
  let initialized: Buffer | undefined
  /** The id of the repeated `initialize` while its answer is pending. */
  let replayId: Id | undefined
  let replayCount = 0
  /** Requests of the bridge itself; the client does not get their answers. */
  const ownRequests = new Set<Id>()
  /** Requests of the client that the daemon has not answered yet. */
  const open = new Map<Id, OpenRequest>()
  /** Requests of the client for the next daemon. */
  const queued = new Map<Id, { readonly method: string; readonly line: Buffer }>()
  /** `resources/subscribe` requests of the legacy protocol, by URI. */
  const subscriptions = new Map<string, Buffer>()
  /**
   * Requests of the daemon that the client has not answered: the id that the client sees, and the daemon's id.
   * Each daemon counts from 0, so a late answer to a stopped daemon must not answer a request of the next one.
   */
  const daemonRequests = new Map<Id, Id>()
  let daemonRequestCount = 0

  const notify = (method: string, params?: Params) =>
    toClient(format({ method, ...(params && { params }) }))

  function fromClient(line: Buffer): void {
    const { id, method, response } = readEnvelope(line)
    if (response) answerDaemonRequest(line, id)
    else if (method !== undefined && id !== undefined) sendRequest(id, method, line)
    else if (method !== undefined) forwardNotification(method, line)
    // The daemon refuses a line that is not a message.
    else if (isConnected) toDaemon(line)
  }

  function sendRequest(id: Id, method: string, line: Buffer): void {
    if (isConnected) {
      open.set(id, { method, ...(resentMethods.has(method) && { line }) })
      if (/^resources\/(un)?subscribe$/.test(method)) subscribe(method, line)
      toDaemon(line)
    } else if (hasGivenUp) refuse(id, method, outage())
    else queued.set(id, { method, line })
  }

  function subscribe(method: string, line: Buffer): void {
    const uri = parse(line).params?.['uri']
    if (typeof uri !== 'string') return
    if (method === 'resources/subscribe') subscriptions.set(uri, line)
    else subscriptions.delete(uri)
  }

  /** Drops a notification when disconnected: it concerns a connection that has ended. */
  function forwardNotification(method: string, line: Buffer): void {
    if (method === 'notifications/initialized') initialized = line
    if (method === 'notifications/cancelled') {
      const id = parse(line).params?.['requestId'] as Id
      queued.delete(id)
      if (!open.delete(id)) return
    }
    if (isConnected) toDaemon(line)
  }

  function answerDaemonRequest(line: Buffer, id: Id | undefined): void {
    const original = id === undefined ? undefined : daemonRequests.get(id)
    if (id === undefined || original === undefined) return
    daemonRequests.delete(id)
    toDaemon(original === id ? line : withId(line, original))
  }

  function fromDaemon(line: Buffer): void {
    const { id, method, response } = readEnvelope(line)
    if (response && id !== undefined) handleResponse(line, id, response)
    else if (method !== undefined && id !== undefined) forwardDaemonRequest(line, id)
    else if (method === 'notifications/cancelled') cancelDaemonRequest(line)
    else if (method === 'notifications/subscriptions/acknowledged') acknowledge(line)
    else toClient(line)
  }

  function handleResponse(line: Buffer, id: Id, response: 'result' | 'error'): void {
    if (id === replayId) return resume(parse(line))
    if (ownRequests.delete(id)) return
    const request = open.get(id)
    open.delete(id)
    if (request?.method === 'initialize' && response === 'result') handshake = request.line
    toClient(line)
  }

  function forwardDaemonRequest(line: Buffer, id: Id): void {
    const clientId = daemonRequestCount++
    daemonRequests.set(clientId, id)
    toClient(clientId === id ? line : withId(line, clientId))
  }

  function cancelDaemonRequest(line: Buffer): void {
    const message = parse(line)
    for (const [clientId, id] of daemonRequests) {
      if (id !== message.params?.['requestId']) continue
      daemonRequests.delete(clientId)
      return toClient(format({ ...message, params: { ...message.params, requestId: clientId } }))
    }
    toClient(line)
  }

  /** Hides a repeated acknowledgement from the client and announces changes that it may have missed. */
  function acknowledge(line: Buffer): void {
    const { params = {} } = parse(line)
    const meta = params['_meta'] as Params | undefined
    const request = open.get(meta?.[subscriptionIdKey] as Id)
    if (!request?.isAcknowledged) {
      if (request) request.isAcknowledged = true
      return toClient(line)
    }
    const filter = (params['notifications'] ?? {}) as Params
    for (const { kind, filter: name } of listKinds)
      if (filter[name] === true) notify(`notifications/${kind}/list_changed`, { _meta: meta })
    const uris = filter['resourceSubscriptions']
    for (const uri of Array.isArray(uris) ? uris : [])
      notify('notifications/resources/updated', { uri, _meta: meta })
  }

  function refuse(id: Id, method: string, { code, message, hint }: Outage): void {
    const text = `${message} ${hint}`
    const details = { code, message, hint }
    if (method === 'ping') toClient(format({ id, result: {} }))
    else if (method !== 'tools/call')
      toClient(format({ id, error: { code: -32000, message: text, data: details } }))
    else
      toClient(
        format({
          id,
          result: {
            // The current protocol has no `initialize`; its results name their type.
            ...(!handshake && { resultType: 'complete' }),
            content: [{ type: 'text', text }],
            structuredContent: details,
            isError: true,
          },
        }),
      )
  }

  function disconnect(): void {
    isConnected = false
    hasGivenUp = false
    replayId = undefined
    ownRequests.clear()
    for (const [id, { method, line }] of open) {
      if (line) continue
      open.delete(id)
      refuse(id, method, outcomeUnknown)
    }
    for (const clientId of daemonRequests.keys())
      notify('notifications/cancelled', { requestId: clientId, reason: 'The daemon stopped.' })
    daemonRequests.clear()
  }

  /** Refuses queued requests unless a daemon is connected. Subscriptions stay queued. */
  function giveUp(): void {
    if (isConnected) return
    hasGivenUp = true
    const starting = [...open].filter(([, { method }]) => method !== 'subscriptions/listen')
    for (const [id, { method }] of [...starting, ...queued]) {
      open.delete(id)
      refuse(id, method, outage())
    }
    queued.clear()
  }

  function connect(): void {
    hasGivenUp = false
    if (!handshake) return resume()
    replayId = `cowork-bridge-${++replayCount}`
    toDaemon(withId(handshake, replayId))
  }

  /** Continues after the repeated `initialize`, or immediately without one. */
  function resume(answered?: Message): void {
    replayId = undefined
    isConnected = true
    if (handshake && initialized) toDaemon(initialized)
    for (const line of subscriptions.values()) toDaemon(ownRequest(line))
    for (const { line } of open.values()) if (line) toDaemon(line)
    for (const [id, { method, line }] of queued) sendRequest(id, method, line)
    queued.clear()
    if (answered && initialized) announceChanges(answered)
  }

  function ownRequest(line: Buffer): string {
    const id = `cowork-bridge-${++replayCount}`
    ownRequests.add(id)
    return withId(line, id)
  }

  function announceChanges({ result }: Message): void {
    const { capabilities = {} } = (result ?? {}) as { capabilities?: Params }
    for (const { kind } of listKinds) {
      const capability = capabilities[kind] as Params | undefined
      if (capability?.['listChanged'] === true) notify(`notifications/${kind}/list_changed`)
    }
    for (const uri of subscriptions.keys()) notify('notifications/resources/updated', { uri })
  }

  return {
    fromClient,
    fromDaemon,
    connect,
    disconnect,
    giveUp,
    queuedBytes: () => [...queued.values()].reduce((sum, { line }) => sum + line.length, 0),
  }
}

const format = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

/** Parses a line whose envelope was read. Invalid JSON gives an empty message. */
const parse = (line: Buffer): Message => (parseJson(line.toString('utf8')) ?? {}) as Message

const withId = (line: Buffer, id: Id) => format({ ...parse(line), id })
