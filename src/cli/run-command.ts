import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { resolveEnvironment } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { Context } from './context.ts'
import { usageError } from './exit.ts'

/** Starts a program with the secrets of `--env-file` in its environment, and nowhere else (K11). */
export async function runWithEnv(context: Context, words: readonly string[]): Promise<number> {
  const [command, ...args] = words
  if (command === undefined)
    throw usageError(
      'There is no command to run.',
      'Write it after two dashes: `cowork run -- claude`.',
    )
  const { env, fromFiles, out } = context
  // Only what the files say: a variable of this terminal that looks like a reference may mean something else.
  const resolved = await resolveEnvironment(fromFiles, { env, interactive: process.stdin.isTTY })
  for (const warning of resolved.warnings) out.note(warning)
  return runInherited(command, args, { ...env, ...resolved.env })
}

const forwarded = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/** Runs it with our stdio and our signals; gives its exit code. */
export function runInherited(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return new Promise((resolve, reject) => {
    // On Windows most commands are .cmd files, which only a shell starts.
    const shell = process.platform === 'win32'
    const child = spawn(command, args, { stdio: 'inherit', env, shell })
    const forward = (signal: NodeJS.Signals) => {
      // A terminal gives Ctrl-C to the program as well.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    const release = () => {
      for (const signal of forwarded) process.off(signal, forward)
    }
    for (const signal of forwarded) process.on(signal, forward)
    child.on('error', (cause) => {
      release()
      const isMissing = 'code' in cause && cause.code === 'ENOENT'
      const message = isMissing
        ? `There is no command named ${command}.`
        : `${command} could not be started: ${cause.message}.`
      const hint = 'Check its name and the PATH.'
      reject(new CoworkError(isMissing ? 'not_found' : 'failed', message, { hint, cause }))
    })
    child.on('exit', (code, signal) => {
      release()
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}
