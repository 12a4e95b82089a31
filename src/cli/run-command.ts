import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { resolveEnvironment } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { Context } from './context.ts'
import { usageError } from './exit.ts'

/** Starts a program with the secrets of `--env-file` in its environment only (K11). */
export async function runWithEnv(context: Context, words: readonly string[]): Promise<number> {
  const [command, ...args] = words
  if (command === undefined)
    throw usageError('Command missing.', 'Put it after two dashes: `cowork run -- claude`.')
  const { env, envFileValues, out } = context
  // Only the env files: a variable of this terminal may look like a reference without being one.
  const resolved = await resolveEnvironment(envFileValues, {
    env,
    interactive: process.stdin.isTTY,
  })
  for (const warning of resolved.warnings) out.note(warning)
  return runInherited(command, args, { ...env, ...resolved.env })
}

const forwardedSignals = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/** Runs a program with our stdio and forwarded signals; returns its exit code. */
export function runInherited(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return new Promise((resolve, reject) => {
    // On Windows most commands are .cmd files, which need a shell.
    const shell = process.platform === 'win32'
    const child = spawn(command, args, { stdio: 'inherit', env, shell })
    const forward = (signal: NodeJS.Signals) => {
      // A terminal sends Ctrl-C to the program too.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    const release = () => {
      for (const signal of forwardedSignals) process.off(signal, forward)
    }
    for (const signal of forwardedSignals) process.on(signal, forward)
    child.on('error', (cause) => {
      release()
      const isMissing = 'code' in cause && cause.code === 'ENOENT'
      const message = isMissing
        ? `Command not found: ${command}.`
        : `Cannot start ${command}: ${cause.message}.`
      const hint = 'Check the name and the PATH.'
      reject(new CoworkError(isMissing ? 'not_found' : 'failed', message, { hint, cause }))
    })
    child.on('exit', (code, signal) => {
      release()
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}
