import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { readOrCreateOwnerToken, readDaemonInfo, statePaths } from '../src/base/state.ts'

/** The real daemon in a separate process, for tests and benches that kill it or measure its memory. */
export type Daemon = AsyncDisposable & {
  readonly pid: number
  readonly port: number
  readonly owner: string
  kill(signal: NodeJS.Signals): Promise<void>
}

const launcher = join(import.meta.dirname, '..', 'bin', 'cowork.mjs')

/** The command that runs `cowork`, with an environment independent of this machine. */
export const cowork = (state: string) => ({
  command: process.execPath,
  args: [launcher],
  env: { PATH: process.env['PATH'], HOME: state, COWORK_STATE_DIR: state },
})

export function configure(state: string, url?: string): void {
  const storage = url === undefined ? '' : `storage: { url: "${url}" }\n`
  writeFileSync(statePaths(state).config, `server: { port: 0 }\n${storage}`)
}

/** Resolves when the daemon is ready. */
export async function startDaemon(state: string): Promise<Daemon> {
  const { command, args, env } = cowork(state)
  const child = spawn(command, [...args, 'up'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)))
  const exit = once(child, 'exit')
  // The banner is printed once everything is ready.
  const ready = await Promise.race([
    once(child.stdout, 'data').then(() => true),
    exit.then(() => false),
  ])
  const info = readDaemonInfo(statePaths(state))
  if (!ready || !info) throw new Error(`the daemon did not start: ${stderr}`)
  child.stdout.resume()
  // Does nothing after the daemon has exited.
  async function kill(signal: NodeJS.Signals) {
    child.kill(signal)
    await exit
  }
  return {
    pid: info.pid,
    port: info.port,
    owner: readOrCreateOwnerToken(statePaths(state)),
    kill,
    [Symbol.asyncDispose]: () => kill('SIGKILL'),
  }
}
