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
  /** Kept only of requests that the next daemon gets again. */
  readonly line?: Buffer
  /** The client knows that this `subscriptions/listen` is open. */
  isAcknowledged?: boolean
}

/** Requests that start or keep a session and change nothing: the next daemon gets them again. */
const resent = new Set(['initialize', 'server/discover', 'subscriptions/listen'])

const lost: Outage = {
  code: 'outcome_unknown',
  message: 'The cowork daemon stopped while this call was under way, so its outcome is unknown.',
  hint: 'Look at what the call did before you repeat it.',
}

/** The kinds of lists, as capabilities name them and as `subscriptions/listen` names them. */
const lists = [
  { kind: 'tools', filter: 'toolsListChanged' },
  { kind: 'prompts', filter: 'promptsListChanged' },
  { kind: 'resources', filter: 'resourcesListChanged' },
] as const

const subscriptionIdKey = 'io.modelcontextprotocol/subscriptionId'

/**
 * One client's MCP session over several connections to the daemon (RA4). Lines pass as they are. The session keeps
 * what a new connection needs to go on: the handshake, subscriptions and which requests have no answer yet.
 */
export function createBridgeSession({ toClient, toDaemon, outage }: SessionOptions) {
  let isConnected = false
  /** No daemon came in time: requests are answered at once until one does. */
  let hasGivenUp = false
  /** An `initialize` that was answered, and the notification that follows it. */
  let handshake: Buffer | undefined
  let initialized: Buffer | undefined
  /** The id of the repeated `initialize`, while its answer is awaited. */
  let replayId: Id | undefined
  let replayCount = 0
  /** Requests of the bridge itself; their answers are not for the client. */
  const ownRequests = new Set<Id>()
  /** Requests of the client that the daemon has and has not answered. */
  const open = new Map<Id, OpenRequest>()
  /** Requests of the client for the next daemon. */
  const waiting = new Map<Id, { readonly method: string; readonly line: Buffer }>()
  /** `resources/subscribe` of the legacy protocol, by address. */
  const subscriptions = new Map<string, Buffer>()
  /**
   * Requests of the daemon that the client has not answered: the id that the client sees, and the daemon's own.
   * Each daemon counts from 0, and a late answer to a dead one must not answer the next one's question.
   */
  const questions = new Map<Id, Id>()
  let questionCount = 0

  const notify = (method: string, params?: Params) =>
    toClient(format({ method, ...(params && { params }) }))

  function fromClient(line: Buffer): void {
    const { id, method, response } = readEnvelope(line)
    if (response) answerQuestion(line, id)
    else if (method !== undefined && id !== undefined) ask(id, method, line)
    else if (method !== undefined) noteFromClient(method, line)
    // The daemon refuses a line that is no message.
    else if (isConnected) toDaemon(line)
  }

  function ask(id: Id, method: string, line: Buffer): void {
    if (isConnected) {
      open.set(id, { method, ...(resent.has(method) && { line }) })
      if (/^resources\/(un)?subscribe$/.test(method)) subscribe(method, line)
      toDaemon(line)
    } else if (hasGivenUp) refuse(id, method, outage())
    else waiting.set(id, { method, line })
  }

  function subscribe(method: string, line: Buffer): void {
    const uri = parse(line).params?.['uri']
    if (typeof uri !== 'string') return
    if (method === 'resources/subscribe') subscriptions.set(uri, line)
    else subscriptions.delete(uri)
  }

  /** A notification without a daemon is dropped: it is about a connection that has ended. */
  function noteFromClient(method: string, line: Buffer): void {
    if (method === 'notifications/initialized') initialized = line
    if (method === 'notifications/cancelled') {
      const id = parse(line).params?.['requestId'] as Id
      waiting.delete(id)
      if (!open.delete(id)) return
    }
    if (isConnected) toDaemon(line)
  }

  function answerQuestion(line: Buffer, id: Id | undefined): void {
    const original = id === undefined ? undefined : questions.get(id)
    if (id === undefined || original === undefined) return
    questions.delete(id)
    toDaemon(original === id ? line : withId(line, original))
  }

  function fromDaemon(line: Buffer): void {
    const { id, method, response } = readEnvelope(line)
    if (response && id !== undefined) answer(line, id, response)
    else if (method !== undefined && id !== undefined) question(line, id)
    else if (method === 'notifications/cancelled') withdrawQuestion(line)
    else if (method === 'notifications/subscriptions/acknowledged') acknowledge(line)
    else toClient(line)
  }

  function answer(line: Buffer, id: Id, response: 'result' | 'error'): void {
    if (id === replayId) return resume(parse(line))
    if (ownRequests.delete(id)) return
    const request = open.get(id)
    open.delete(id)
    if (request?.method === 'initialize' && response === 'result') handshake = request.line
    toClient(line)
  }

  function question(line: Buffer, id: Id): void {
    const shown = questionCount++
    questions.set(shown, id)
    toClient(shown === id ? line : withId(line, shown))
  }

  function withdrawQuestion(line: Buffer): void {
    const message = parse(line)
    for (const [shown, id] of questions) {
      if (id !== message.params?.['requestId']) continue
      questions.delete(shown)
      return toClient(format({ ...message, params: { ...message.params, requestId: shown } }))
    }
    toClient(line)
  }

  /** A repeated `subscriptions/listen` is news to the daemon only; the client hears what it may have missed. */
  function acknowledge(line: Buffer): void {
    const { params = {} } = parse(line)
    const meta = params['_meta'] as Params | undefined
    const request = open.get(meta?.[subscriptionIdKey] as Id)
    if (!request?.isAcknowledged) {
      if (request) request.isAcknowledged = true
      return toClient(line)
    }
    const filter = (params['notifications'] ?? {}) as Params
    for (const { kind, filter: name } of lists)
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
            // The current protocol has no `initialize`, and names the type of each result.
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
      refuse(id, method, lost)
    }
    for (const shown of questions.keys())
      notify('notifications/cancelled', { requestId: shown, reason: 'The daemon stopped.' })
    questions.clear()
  }

  /** Answers the requests that wait for a daemon, unless one has come. A subscription goes on waiting. */
  function giveUp(): void {
    if (isConnected) return
    hasGivenUp = true
    const starting = [...open].filter(([, { method }]) => method !== 'subscriptions/listen')
    for (const [id, { method }] of [...starting, ...waiting]) {
      open.delete(id)
      refuse(id, method, outage())
    }
    waiting.clear()
  }

  function connect(): void {
    hasGivenUp = false
    if (!handshake) return resume()
    replayId = `cowork-bridge-${++replayCount}`
    toDaemon(withId(handshake, replayId))
  }

  /** Goes on after a repeated `initialize` was answered, or at once where there was none. */
  function resume(answered?: Message): void {
    replayId = undefined
    isConnected = true
    if (handshake && initialized) toDaemon(initialized)
    for (const line of subscriptions.values()) toDaemon(ownRequest(line))
    for (const { line } of open.values()) if (line) toDaemon(line)
    for (const [id, { method, line }] of waiting) ask(id, method, line)
    waiting.clear()
    if (answered && initialized) announceChanges(answered)
  }

  function ownRequest(line: Buffer): string {
    const id = `cowork-bridge-${++replayCount}`
    ownRequests.add(id)
    return withId(line, id)
  }

  function announceChanges({ result }: Message): void {
    const { capabilities = {} } = (result ?? {}) as { capabilities?: Params }
    for (const { kind } of lists) {
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
    waitingBytes: () => [...waiting.values()].reduce((sum, { line }) => sum + line.length, 0),
  }
}

const format = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

/** Only for lines whose envelope was read. A line that is no JSON after all has no members. */
const parse = (line: Buffer): Message => (parseJson(line.toString('utf8')) ?? {}) as Message

const withId = (line: Buffer, id: Id) => format({ ...parse(line), id })
