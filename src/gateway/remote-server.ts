import { Client, SdkError, SdkErrorCode, UnauthorizedError } from '@modelcontextprotocol/client'
import type { PriorDiscovery, Progress } from '@modelcontextprotocol/client'
import type { Clock } from '#base/clock.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { limits } from './limits.ts'
import type { RawTool, ServerState, ServerStatus } from './model.ts'
import type { ServerSettings } from './settings.ts'
import { createTransport } from './transport.ts'

type Deps = {
  readonly settings: ServerSettings
  /** Returns the transport settings with secret references resolved. */
  readonly resolveSecrets: () => Promise<ServerSettings['transport']>
  readonly onTools: (tools: readonly RawTool[]) => Promise<void>
  readonly onStatus: () => void
  readonly version: string
  readonly home: string
  readonly now: Clock
  readonly log: Log
  /** Random part of a retry delay, 0 to 1. */
  readonly random?: () => number
}

type RequestOptions = {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

export type Method =
  | 'tools/call'
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'prompts/list'
  | 'prompts/get'
  | 'completion/complete'

type Params = Readonly<Record<string, unknown>>
type Result = Readonly<Record<string, unknown>>

/** The bridge to one upstream server: connects, reconnects with backoff, and keeps its raw tools (U2). */
export type McpRemoteToolServer = ReturnType<typeof createRemoteToolServer>

export function createRemoteToolServer(deps: Deps) {
  const { settings, log, now, random = Math.random } = deps
  const { name } = settings
  let state: ServerState = settings.enabled ? 'connecting' : 'disabled'
  let client: Client | undefined
  let tools: readonly RawTool[] = []
  let lastError: string | undefined
  let isAuthRequired = false
  /** Which protocol version the server speaks, so that a reconnect needs no probe. */
  let prior: PriorDiscovery | undefined
  let connectedAt = 0
  let attempt = 0
  let restartCount = 0
  let retryAt: number | undefined
  let retryTimer: NodeJS.Timeout | undefined
  let callCount = 0
  let errorCount = 0
  let isClosed = false
  let connecting: Promise<void> | undefined
  const latencies: number[] = []
  const stderr: { readonly at: number; readonly line: string }[] = []

  function setState(next: ServerState): void {
    if (state === next) return
    state = next
    deps.onStatus()
  }

  function addStderr(line: string): void {
    if (line.trim() === '') return
    stderr.push({ at: now(), line })
    if (stderr.length > limits.stderrLines) stderr.shift()
  }

  async function openClient(): Promise<Client> {
    const opened = new Client(
      { name: 'cowork', version: deps.version },
      {
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: limits.probeTimeoutMs } },
        inputRequired: { autoFulfill: false },
        listMaxPages: limits.listPages,
        capabilities: {},
      },
    )
    const transport = createTransport(await deps.resolveSecrets(), {
      onStderr: addStderr,
      home: deps.home,
    })
    const options = { timeout: limits.connectTimeoutMs }
    try {
      await opened.connect(transport, prior ? { ...options, prior } : options)
    } catch (error) {
      await opened.close().catch(() => undefined)
      throw error
    }
    const discover = opened.getDiscoverResult()
    prior = discover ? { kind: 'modern', discover } : { kind: 'legacy' }
    return opened
  }

  async function connect(): Promise<void> {
    setState('connecting')
    retryAt = undefined
    let opened: Client | undefined
    try {
      opened = await openClient()
      const current = opened
      if (isClosed) return await current.close()
      current.onclose = () => onDisconnect(current)
      current.onerror = (error) =>
        log.debug('connection error', { server: name, error: error.message })
      current.setNotificationHandler('notifications/tools/list_changed', () => {
        void refreshTools(current)
      })
      await readTools(current)
      client = current
      connectedAt = now()
      lastError = undefined
      isAuthRequired = false
      setState('ready')
      log.info('connected', { server: name, protocol: current.getNegotiatedProtocolVersion() })
      void watchChanges(current)
    } catch (error) {
      await opened?.close().catch(() => undefined)
      // A cached verdict may be out of date after an update of the server.
      prior = undefined
      onFailure(error)
    }
  }

  async function readTools(from: Client): Promise<void> {
    if (!from.getServerCapabilities()?.tools) return deps.onTools([])
    const listed = await from.listTools(undefined, {
      timeout: limits.listTimeoutMs,
      cacheMode: 'refresh',
    })
    tools = checkTools(listed.tools)
    await deps.onTools(tools)
  }

  async function refreshTools(from: Client): Promise<void> {
    await readTools(from).catch((error: unknown) => {
      if (from === client) disconnect(from, error)
    })
  }

  /** Subscribes to list changes; servers of older protocol versions send them without a subscription. */
  async function watchChanges(current: Client): Promise<void> {
    if (current.getProtocolEra() !== 'modern') return
    try {
      const subscription = await current.listen({ toolsListChanged: true })
      const end = await subscription.closed
      if (end !== 'local' && current === client)
        disconnect(current, new Error('the stream of changes ended'))
    } catch (error) {
      log.debug('list changes are not available', { server: name, error: errorMessage(error) })
    }
  }

  function disconnect(current: Client, error: unknown): void {
    client = undefined
    void current.close().catch(() => undefined)
    onFailure(error)
  }

  function onDisconnect(current: Client): void {
    if (isClosed || client !== current) return
    client = undefined
    onFailure(new Error(lastStderr() ?? 'the connection closed'))
  }

  function onFailure(error: unknown): void {
    if (isClosed) return
    isAuthRequired = error instanceof UnauthorizedError
    lastError = describeError(error)
    if (connectedAt > 0 && now() - connectedAt > limits.stableMs) attempt = 0
    connectedAt = 0
    attempt += 1
    const delay = Math.min(limits.firstRetryMs * 2 ** (attempt - 1), limits.maxRetryMs)
    // Spread retries, so that servers which failed together do not return together.
    const delayMs = delay * (0.75 + random() / 2)
    retryAt = now() + delayMs
    log.warn('disconnected', { server: name, error: lastError, retry_in_ms: Math.round(delayMs) })
    setState('failed')
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => {
      restartCount += 1
      start()
    }, delayMs).unref()
  }

  const lastStderr = (): string | undefined => stderr.at(-1)?.line

  function start(): void {
    if (isClosed || state === 'disabled' || connecting) return
    connecting = connect().finally(() => (connecting = undefined))
  }

  /** Sends a request and measures it. Fails at once while the server is disconnected. */
  async function request(
    method: Method,
    params: Params,
    { signal, onProgress }: RequestOptions = {},
  ): Promise<Result> {
    const current = client
    if (!current) throw unavailable()
    const startMark = performance.now()
    callCount += 1
    try {
      const result: unknown = await current.request({ method, params } as { method: Method }, {
        timeout: settings.timeoutSeconds * 1000,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: settings.timeoutSeconds * 10_000,
        allowInputRequired: true,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      })
      latencies.push(performance.now() - startMark)
      if (latencies.length > limits.latencySamples) latencies.shift()
      return result as Result
    } catch (error) {
      // Dispatch reports a cancelled call as such.
      if (signal?.aborted) throw error
      errorCount += 1
      throw toUpstreamError(error)
    }
  }

  const unavailable = (): CoworkError =>
    new CoworkError(
      'server_unavailable',
      `Server not connected: ${name} (${lastError ?? state}).`,
      {
        hint: 'Tell the user, or try again later. A person sees the cause with `cowork servers logs`.',
        details: { server: name, state, ...(retryAt !== undefined && { retry_at: retryAt }) },
      },
    )

  function toUpstreamError(error: unknown): unknown {
    if (error instanceof CoworkError) return error
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
      return new CoworkError(
        'server_timeout',
        `No answer from ${name} within ${settings.timeoutSeconds} s. The call may have had an effect.`,
        { hint: 'Check the result before you repeat the call.', cause: error },
      )
    return new CoworkError('server_error', `${name} failed: ${describeError(error)}`, {
      hint: 'Check the arguments, or tell the user.',
      details: { server: name, ...rpcDetails(error) },
      cause: error,
    })
  }

  start()

  return {
    name,
    settings,
    /** The tools as the server lists them; the last known list while it is disconnected. */
    tools: () => tools,
    request,
    isReady: () => client !== undefined,
    hasCapability: (capability: 'resources' | 'prompts' | 'completions') =>
      client?.getServerCapabilities()?.[capability] !== undefined,
    instructions: () => client?.getInstructions(),
    stderr: () => [...stderr],
    status(): ServerStatus {
      const protocolVersion = client?.getNegotiatedProtocolVersion()
      const latency = summarize(latencies)
      return {
        state,
        transport: settings.transport.type,
        ...(lastError !== undefined && { lastError }),
        ...(isAuthRequired && { authRequired: true }),
        ...(protocolVersion !== undefined && { protocolVersion }),
        ...(latency && { latency }),
        callCount,
        errorCount,
        restartCount,
        ...(retryAt !== undefined && { retryAt }),
      }
    },
    /** Connects again now, without waiting for the next retry. */
    async restart(): Promise<void> {
      clearTimeout(retryTimer)
      await connecting
      const current = client
      client = undefined
      await current?.close().catch(() => undefined)
      attempt = 0
      prior = undefined
      start()
      await connecting
    },
    /** Resolves when the first attempt to connect has ended. */
    settled: async (): Promise<void> => {
      await connecting
    },
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(retryTimer)
      await client?.close().catch(() => undefined)
      client = undefined
    },
  }
}

function checkTools(listed: readonly RawTool[]): readonly RawTool[] {
  if (listed.length > limits.tools)
    throw new Error(`it lists ${listed.length} tools; the limit is ${limits.tools}`)
  const names = new Set<string>()
  for (const tool of listed) {
    if (names.has(tool.name)) throw new Error(`it lists the tool ${tool.name} twice`)
    names.add(tool.name)
    if (JSON.stringify(tool).length > limits.toolDefinitionBytes)
      throw new Error(`the definition of ${tool.name} is too large`)
  }
  return listed
}

function summarize(samples: readonly number[]): ServerStatus['latency'] {
  if (samples.length === 0) return undefined
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95) }
}

const maxErrorLength = 500

function describeError(error: unknown): string {
  const cause =
    error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${errorMessage(error)}${cause}`.slice(0, maxErrorLength)
}

/** The code and data of a JSON-RPC error, as the server sent them. */
function rpcDetails(error: unknown): Readonly<Record<string, unknown>> {
  if (typeof error !== 'object' || error === null || !('code' in error)) return {}
  const { code } = error
  return typeof code === 'number' ? { rpc_code: code } : {}
}
