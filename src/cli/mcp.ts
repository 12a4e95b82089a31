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

/** `cowork mcp` without the rest of the command line. */
export async function run(options: Globals & McpOptions): Promise<ExitCode> {
  try {
    return await mcp(createContext(options), options)
  } catch (error) {
    createOutput({ json: false }).problem(error)
    return toExitCode(error)
  }
}

/** Joins a client's stdio to the daemon's socket (SV4), for as long as the client is there. */
export async function mcp(context: Context, options: McpOptions): Promise<ExitCode> {
  const { paths, locationArgs, fromFiles, inherited, out } = context
  const files = Object.keys(fromFiles).length > 0 ? await resolved(context) : {}
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
  // Nothing is read from the client before there is a daemon to take it.
  return pump(await link.open(), link.reopen, paths)
}

/** stdin carries the protocol, so nobody can be asked for a password here. */
async function resolved({ env, fromFiles }: Context): Promise<Record<string, string>> {
  const { resolveEnvironment } = await import('#base/config/index.ts')
  return (await resolveEnvironment(fromFiles, { env })).env
}

type HelloOptions = McpOptions & { readonly paths: StatePaths; readonly env: Environment }

/** Identifies the client to the daemon by a token, or else by the name of an unverified agent (I13), with its tools. */
export function buildHello({ paths, env, agent, ...wanted }: HelloOptions) {
  const said = readCallerEnvironment(env)
  const token =
    said.token ?? (agent === undefined ? undefined : storedToken(paths, parseAgentName(agent)))
  return {
    ...(token ? { token } : { agent: agent ?? said.agentId ?? 'main' }),
    ...(said.sessionId && { session: said.sessionId }),
    ...(wanted.tools !== undefined && { tools: parseNames(wanted.tools) }),
    ...(wanted.exclude !== undefined && { exclude: parseNames(wanted.exclude) }),
    ...(wanted.readOnly && { read_only: true }),
    ...(wanted.results !== undefined && { results: wanted.results }),
  }
}

/** Variables of the client that must not shape a daemon which outlives it (SV6, I13). */
const ofTheClient = ['PORT', 'TRANSPORT', 'LOG_LEVEL', 'COWORK_TOKEN', 'AGENT_ID', 'SESSION_ID']

export const daemonEnvironment = <V>(env: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ofTheClient.includes(name)))

/** A client that ended its requests gets the answers of this time. */
const lastAnswersMs = 5000
const outageWaitMs = 10_000
/** With more of the client's input waiting for a daemon, the client is not read from. */
const maxWaitingBytes = 16 * 1024 * 1024
/** More than a message may have (SV25), so that the daemon is the one to refuse it. */
const maxLineBytes = 80 * 1024 * 1024

/** Passes lines both ways, over one connection after the other, until the client leaves. */
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
    outage: () => outageOf(paths),
  })
  const fromClient = createLineSplitter(session.fromClient, {
    maxBytes: maxLineBytes,
    onTooLong: () => void stdout.write(tooLong),
  })

  /** Reads from the client only what can go on. */
  function throttle(): void {
    if (socket?.writableNeedDrain || session.waitingBytes() > maxWaitingBytes) stdin.pause()
    else stdin.resume()
  }

  function attach(next: Socket): void {
    socket = next
    // A line that a dying daemon cut off goes with its splitter.
    const fromDaemon = createLineSplitter(session.fromDaemon, {
      maxBytes: maxLineBytes,
      onTooLong: () => next.destroy(),
    })
    next.on('data', (chunk: Buffer) => {
      fromDaemon(chunk)
      if (stdout.writableNeedDrain) next.pause()
    })
    next.on('drain', throttle).on('close', onLost)
    session.connect()
    throttle()
    next.resume()
  }

  function onLost(): void {
    socket = undefined
    if (clientGone.signal.aborted) return ended.resolve(exitCode.ok)
    session.disconnect()
    clearTimeout(outageTimer)
    outageTimer = setTimeout(giveUp, outageWaitMs)
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
    const leaving = socket
    leaving.end()
    setTimeout(() => leaving.destroy(), lastAnswersMs).unref()
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

const outageOf = (paths: StatePaths): Outage => ({
  code: 'daemon_not_running',
  message: existsSync(paths.stopped)
    ? 'A person stopped cowork.'
    : 'The cowork daemon is not running.',
  hint: '`cowork up -d` starts it. Ask the user to run it, then repeat the call.',
})

const tooLong = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32600,
    message: `A message may have ${maxLineBytes} bytes, and this one has more.`,
  },
})}\n`
