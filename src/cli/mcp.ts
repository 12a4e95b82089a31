import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { callerFromEnvironment } from '#base/config/env.ts'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { ensureState, isLocked } from '#base/state.ts'
import type { StatePaths } from '#base/state.ts'
import { agentName } from './agent-name.ts'
import { contextOf } from './context.ts'
import type { Context, Globals } from './context.ts'
import { startDetached } from './daemon.ts'
import type { DetachedOptions } from './daemon.ts'
import { exitCode, exitCodeOf } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { closedByDaemon, endsToGive, giveEnds, untilEither } from './give-ends.ts'
import { createOutput } from './output.ts'

type BridgeOptions = {
  readonly paths: StatePaths
  readonly env: Environment
  readonly agent?: string | undefined
  /** What a daemon is started with if none runs. */
  readonly up: Pick<DetachedOptions, 'args' | 'env' | 'handover'>
}

const patience = 20_000
const lastAnswers = 5000

/** `cowork mcp` when it is all that was asked for. */
export async function run({ agent, ...globals }: Globals & { agent?: string | undefined }) {
  try {
    return await mcp(contextOf(globals), { agent })
  } catch (error) {
    createOutput({ json: false, stdout: process.stdout, stderr: process.stderr }).problem(error)
    return exitCodeOf(error)
  }
}

export async function mcp(
  context: Context,
  { agent }: { agent?: string | undefined },
): Promise<ExitCode> {
  const { paths, samePlace, fromFiles, inherited } = context
  const files = Object.keys(fromFiles).length > 0 ? await resolved(context) : {}
  const env = { ...context.env, ...files }
  const handover = { env: daemonEnvironment(files) }
  const up = { args: samePlace, env: daemonEnvironment(inherited), handover }
  return bridge({ paths, env, agent, up })
}

/** stdin carries the protocol, so nobody can be asked for a password here. */
async function resolved({ env, fromFiles }: Context): Promise<Record<string, string>> {
  const { resolveEnvironment } = await import('#base/config/index.ts')
  return (await resolveEnvironment(fromFiles, { env })).env
}

/** Between a client's stdio and the daemon's socket (SV4): gives the ends away, or else pumps every byte. */
async function bridge(options: BridgeOptions): Promise<ExitCode> {
  const hello = helloOf(options)
  const giving = endsToGive()
  if (giving) {
    const socket = await reach(options)
    const answer = await giveEnds(socket, hello, giving)
    if (answer === 'taken') return untilEither(socket)
    if (answer === 'pipe') return pump(socket, process)
    // A daemon of an older version closes, and has read nothing of the client yet.
  }
  const socket = await reach(options)
  socket.write(`${JSON.stringify(hello)}\n`)
  return pump(socket, process)
}

/** Who we are for the daemon: a token, or else the name an unverified agent goes by in open mode (I13). */
export function helloOf({ paths, env, agent }: Pick<BridgeOptions, 'paths' | 'env' | 'agent'>) {
  const said = callerFromEnvironment(env)
  const token = said.token ?? (agent === undefined ? undefined : storedToken(paths, agent))
  return {
    cowork: 1,
    ...(token ? { token } : { agent: agent ?? said.agentId ?? 'main' }),
    ...(said.sessionId && { session: said.sessionId }),
  }
}

function storedToken(paths: StatePaths, agent: string): string | undefined {
  const file = paths.agentToken(agentName(agent))
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** Variables of the client that must not shape a daemon which outlives it (SV6, I13). */
const ofTheClient = ['PORT', 'TRANSPORT', 'LOG_LEVEL', 'COWORK_TOKEN', 'AGENT_ID', 'SESSION_ID']

export const daemonEnvironment = <V>(env: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ofTheClient.includes(name)))

async function reach({ paths, up }: BridgeOptions): Promise<Socket> {
  const deadline = Date.now() + patience
  for (;;) {
    const socket = await connected(paths.socket)
    if (socket) return socket
    if (Date.now() > deadline)
      throw new CoworkError('timeout', `The daemon on ${paths.dir} does not take connections.`, {
        hint: `Its log is ${paths.log}.`,
      })
    // With the lock taken a daemon is on its way up or down: wait for either.
    if (isLocked(paths)) await sleep(25)
    else await start({ paths, up })
  }
}

async function start({ paths, up }: Pick<BridgeOptions, 'paths' | 'up'>) {
  try {
    ensureState(paths)
    await startDetached({ paths, ...up, cwd: paths.dir, timeoutMs: patience })
  } catch (error) {
    // Two clients that start at once start two daemons; the second finds the lock taken, which is as good.
    if (!(error instanceof CoworkError && error.code === 'daemon_running')) throw error
  }
}

function connected(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(socket.removeAllListeners('error')))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
    )
  })
}

function pump(
  socket: Socket,
  { stdin, stdout }: Pick<NodeJS.Process, 'stdin' | 'stdout'>,
): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    let clientLeft = false
    const leave = () => {
      clientLeft = true
      // The daemon may still answer what it was asked; if it does not close by then, it never will.
      setTimeout(() => socket.destroy(), lastAnswers).unref()
    }
    stdin.on('end', leave).on('error', leave)
    stdout.on('error', () => {
      clientLeft = true
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      stdin.destroy()
      if (clientLeft) resolve(exitCode.ok)
      else reject(closedByDaemon())
    })
    stdin.pipe(socket)
    socket.pipe(stdout, { end: false })
  })
}
