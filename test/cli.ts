import { fork, spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import type { HostedCommand } from './cli-host.ts'
import { readDaemonInfo, statePaths } from '../src/base/state.ts'

export type Result = { code: number | null; stdout: string; stderr: string }

/** The launcher that people and clients start, with two dashes before it. */
export const launcher = join(process.cwd(), 'bin', 'cowork.mjs')

/** Creates a state directory with `cowork` on it. Running processes end with the test. */
export function newPlace(config = '') {
  const state = mkdtempSync(join(tmpdir(), 'cowork-cli-'))
  const paths = statePaths(state)
  writeFileSync(paths.config, `server: { port: 0 }\n${config}`)
  // Independent of the environment of this machine.
  const own = { PATH: process.env['PATH'], HOME: state, COWORK_STATE_DIR: state }

  const start = (args: string[], env: Record<string, string> = {}) =>
    spawn(process.execPath, ['--', launcher, ...args], { cwd: state, env: { ...own, ...env } })

  /** Runs in a separate process, for behavior that only a process shows. */
  async function coworkProcess(args: string[], env?: Record<string, string>, input = '') {
    const child = start(args, env)
    child.stdin.end(input)
    return ended(child)
  }

  const cowork = (args: string[], env: Record<string, string> = {}, input = ''): Promise<Result> =>
    takesProcess(args)
      ? coworkProcess(args, env, input)
      : runHosted({ args, env: { ...own, ...env }, cwd: state, input })

  /** Stops the daemon with a signal: `cowork down` would start another process per test. */
  async function end() {
    const pid = readDaemonInfo(paths)?.pid
    if (pid !== undefined && signal(pid, 'SIGTERM'))
      await vi.waitUntil(() => !signal(pid, 0), { timeout: 20_000, interval: 20 })
    rmSync(state, { recursive: true, force: true })
  }
  const daemon = () => {
    const info = readDaemonInfo(paths)
    if (!info) throw new Error(`no daemon speaks for ${state}`)
    return info
  }
  return { state, paths, env: own, start, cowork, coworkProcess, daemon, end }
}

/** Returns false if the process has exited. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** Creates a place for one test, cleaned up after it. */
export function testPlace(config = '') {
  const place = newPlace(config)
  onTestFinished(place.end)
  return place
}

let host: ChildProcess | undefined
let queue: Promise<unknown> = Promise.resolve()

function startHost(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'cli-host.ts'), { stdio: 'inherit' })
  // It ends with the test process and must not keep it running.
  child.unref()
  child.channel?.unref()
  return child
}

/** Commands that pass on their streams, serve until a signal, or set up their process. */
const takesProcess = ([name = '', ...options]: readonly string[]): boolean =>
  ['mcp', 'run', 'inspect'].includes(name) || (name === 'up' && !options.includes('-d'))

/** Runs a command in the command host of this test process. */
function runHosted(command: HostedCommand): Promise<Result> {
  const result = queue.then(async () => {
    host ??= startHost()
    const answer = once(host, 'message') as Promise<[Result]>
    const end = once(host, 'exit').then(([code]) => {
      host = undefined
      throw new Error(`cowork ${command.args.join(' ')} ended its process with ${String(code)}`)
    })
    host.send(command)
    return (await Promise.race([answer, end]))[0]
  })
  queue = result.catch(() => undefined)
  return result
}

export async function ended(child: ChildProcessWithoutNullStreams): Promise<Result> {
  const closed = once(child, 'close') as Promise<[number | null]>
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed,
  ])
  return { code, stdout, stderr }
}

/** Reads lines of a running process. */
export function lineReader(child: ChildProcessWithoutNullStreams) {
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })
  let rest = ''
  return async function nextLine(): Promise<string> {
    while (!rest.includes('\n')) {
      const { value, done } = (await lines.next()) as IteratorResult<string, undefined>
      if (done) throw new Error(`the output ended with ${JSON.stringify(rest)}`)
      rest += value
    }
    const [line = '', ...others] = rest.split('\n')
    rest = others.join('\n')
    return line
  }
}
