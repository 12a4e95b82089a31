import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { readCallerEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { parseNames } from '#base/selection.ts'
import type { StatePaths } from '#base/state.ts'
import { parseAgentName, storedToken } from './lookup.ts'
import { createBridgeSession } from './bridge-session.ts'
import type { Outage } from './bridge-session.ts'
import { createContext } from './context.ts'
import type { Context, Globals } from './context.ts'
import { createDaemonLink } from './daemon-link.ts'
import { exitCode, toExitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { createLineSplitter } from './message-line.ts'
import { createOutput } from './output.ts'

export type McpOptions = {
  readonly agent?: string | undefined
  /** Comma-separated names of tools and toolsets. */
  readonly tools?: string | undefined
  readonly exclude?: string | undefined
  readonly readOnly?: boolean | undefined
  readonly results?: string | undefined
}

/** Runs `cowork mcp` without loading the rest of the command line. */
export async function run(options: Globals & McpOptions): Promise<ExitCode> {
  try {
    return await mcp(createContext(options), options)
  } catch (error) {
    createOutput({ json: false }).problem(error)
    return toExitCode(error)
  }
}

/** Connects a client's stdio to the daemon's socket (SV4) until the client disconnects. */
export async function mcp(context: Context, options: McpOptions): Promise<ExitCode> {
  const { paths, locationArgs, envFileValues, inherited, out } = context
  const files = Object.keys(envFileValues).length > 0 ? await resolveEnvFiles(context) : {}
  const env = { ...context.env, ...files }
  const link = createDaemonLink({
    paths,
    hello: buildHello({ paths, env, ...options }),
    up: {
      args: [...locationArgs, '--free-port'],
      env: daemonEnvironment(inherited),
      handover: { env: daemonEnvironment(files) },
    },
    note: out.note,
  })
  // Read from the client only once a daemon is connected.
  return pump(await link.open(), link.reopen, paths)
}

/** Resolves references without prompting for a password: stdin carries the protocol. */
async function resolveEnvFiles({ env, envFileValues }: Context): Promise<Record<string, string>> {
  const { resolveEnvironment } = await import('#base/config/index.ts')
  return (await resolveEnvironment(envFileValues, { env })).env
}

type HelloOptions = McpOptions & { readonly paths: StatePaths; readonly env: Environment }

/** Builds the handshake: a token or the name of an unverified agent (I13), and the client's tools. */
export function buildHello({ paths, env, agent, ...selection }: HelloOptions) {
  const caller = readCallerEnvironment(env)
  const token =
    caller.token ?? (agent === undefined ? undefined : storedToken(paths, parseAgentName(agent)))
  return {
    ...(token ? { token } : { agent: agent ?? caller.agentId ?? 'main' }),
    ...(caller.sessionId && { session: caller.sessionId }),
    ...(selection.tools !== undefined && { tools: parseNames(selection.tools) }),
    ...(selection.exclude !== undefined && { exclude: parseNames(selection.exclude) }),
    ...(selection.readOnly && { read_only: true }),
    ...(selection.results !== undefined && { results: selection.results }),
  }
}

/** Variables of the client that must not affect a daemon that outlives it (SV6, I13). */
const clientVariables = ['PORT', 'TRANSPORT', 'LOG_LEVEL', 'COWORK_TOKEN', 'AGENT_ID', 'SESSION_ID']

export const daemonEnvironment = <V>(env: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !clientVariables.includes(name)))

/** Time to wait for pending answers after the client has closed its input. */
const drainTimeoutMs = 5000
const outageTimeoutMs = 10_000
/** Stop reading from the client when this much input is queued for a daemon. */
const maxQueuedBytes = 16 * 1024 * 1024
/** Larger than the message limit (SV25), so that the daemon refuses such a message. */
const maxLineBytes = 80 * 1024 * 1024

/** Passes lines both ways, over consecutive connections, until the client disconnects. */
function pump(
  first: Socket,
  reopen: (signal: AbortSignal) => Promise<Socket>,
  paths: StatePaths,
): Promise<ExitCode> {
  const { stdin, stdout } = process
  const ended = Promise.withResolvers<ExitCode>()
  const clientGone = new AbortController()
  let socket: Socket | undefined
  let outageTimer: NodeJS.Timeout | undefined
  const session = createBridgeSession({
    toClient: (line) => void stdout.write(line),
    toDaemon: (line) => void socket?.write(line),
    outage: () => getOutage(paths),
  })
  const fromClient = createLineSplitter(session.fromClient, {
    maxBytes: maxLineBytes,
    onTooLong: () => void stdout.write(tooLongError),
  })

  /** Reads from the client only while its input can be processed. */
  function throttle(): void {
    if (socket?.writableNeedDrain || session.queuedBytes() > maxQueuedBytes) stdin.pause()
    else stdin.resume()
  }

  function attach(next: Socket): void {
    socket = next
    // A partial line of a stopped daemon is dropped with its splitter.
    const fromDaemon = createLineSplitter(session.fromDaemon, {
      maxBytes: maxLineBytes,
      onTooLong: () => next.destroy(),
    })
    next.on('data', (chunk: Buffer) => {
      fromDaemon(chunk)
      if (stdout.writableNeedDrain) next.pause()
    })
    next.on('drain', throttle).on('close', onDisconnect)
    session.connect()
    throttle()
    next.resume()
  }

  function onDisconnect(): void {
    socket = undefined
    if (clientGone.signal.aborted) return ended.resolve(exitCode.ok)
    session.disconnect()
    clearTimeout(outageTimer)
    outageTimer = setTimeout(giveUp, outageTimeoutMs)
    throttle()
    reopen(clientGone.signal).then(
      (next) => (clientGone.signal.aborted ? void next.destroy() : attach(next)),
      (error: unknown) => {
        if (!clientGone.signal.aborted) ended.reject(error)
      },
    )
  }

  function giveUp(): void {
    session.giveUp()
    throttle()
  }

  function onClientGone(): void {
    clientGone.abort()
    if (!socket) {
      session.giveUp()
      return ended.resolve(exitCode.ok)
    }
    const closing = socket
    closing.end()
    setTimeout(() => closing.destroy(), drainTimeoutMs).unref()
  }

  stdin.on('data', (chunk: Buffer) => {
    fromClient(chunk)
    throttle()
  })
  stdin.once('end', onClientGone).once('error', onClientGone)
  stdout.on('drain', () => socket?.resume())
  stdout.on('error', () => {
    clientGone.abort()
    if (socket) socket.destroy()
    else ended.resolve(exitCode.ok)
  })
  attach(first)
  return ended.promise.finally(() => {
    clearTimeout(outageTimer)
    stdin.destroy()
  })
}

const getOutage = (paths: StatePaths): Outage => ({
  code: 'daemon_not_running',
  message: existsSync(paths.stopped)
    ? 'A person stopped cowork.'
    : 'The cowork daemon is not running.',
  hint: 'Ask the user to run `cowork up -d`, then repeat the call.',
})

const tooLongError = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32600,
    message: `Message too large: the limit is ${maxLineBytes} bytes.`,
  },
})}\n`
