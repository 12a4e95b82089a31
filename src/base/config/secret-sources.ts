import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Environment, Folders } from './env.ts'
import { currentEnvironment, currentFolders, expandPath } from './env.ts'

export type SecretOptions = Partial<Folders> & {
  env?: Environment
  /** Whether `op` may prompt in the terminal. Must be false if stdin carries a protocol. */
  interactive?: boolean
  /** The optional package @napi-rs/keyring. */
  loadKeyring?: () => Promise<Keyring>
  commandTimeoutMs?: number
}
type Keyring = { Entry: new (service: string, account: string) => { getPassword(): string | null } }

/** Resolves a secret reference. Messages contain the setting `what` and never the value. */
export async function resolveReference(
  reference: string,
  what: string,
  options: SecretOptions = {},
  warnings: string[] = [],
): Promise<string> {
  const toError = (reason: string, hint: string, cause?: unknown): CoworkError =>
    new CoworkError('secret_unresolved', `Cannot resolve ${what}: ${reason}.`, {
      hint,
      details: { setting: what, kind: reference.split(':', 1)[0] },
      cause,
    })
  const value = await readReference(
    reference,
    options,
    toError,
    (text) => void warnings.push(`${what}: ${text}`),
  )
  if (value === '')
    throw toError(
      `${describeSource(reference)} is empty`,
      'Store the secret first, or correct the reference.',
    )
  return value
}

const describeSource = (reference: string) =>
  reference.startsWith('cmd:') ? 'the output of the command' : reference

type ToError = (reason: string, hint: string, cause?: unknown) => CoworkError

async function readReference(
  reference: string,
  options: SecretOptions,
  toError: ToError,
  warn: (text: string) => void,
): Promise<string> {
  const env = options.env ?? currentEnvironment()
  const rest = reference.slice(reference.indexOf(':') + 1)
  if (reference.startsWith('env:')) {
    const value = env[rest]
    if (value === undefined)
      throw toError(`environment variable ${rest} is not set`, `Set ${rest} before the start.`)
    return value
  }
  if (reference.startsWith('file:')) return readSecretFile(rest, options, toError, warn)
  if (reference.startsWith('op://')) {
    const read = await runCommand('op', ['read', '--no-newline', reference], env, {
      stdin: options.interactive ? 'inherit' : 'ignore',
      stderr: options.interactive ? 'inherit' : 'ignore',
      timeoutMs: 120_000,
    })
    if (read.isMissing)
      throw toError(
        'the 1Password CLI `op` is not installed',
        'Install it, or use another kind of reference.',
      )
    if (read.reason)
      throw toError(
        `\`op read ${reference}\` ${read.reason}`,
        'Run `op signin`, check the vault, item and field, then start again.',
      )
    return read.stdout.trim()
  }
  if (reference.startsWith('keychain:')) return readKeychain(rest, options, toError)
  const done = await runCommand(rest, [], env, {
    stdin: 'ignore',
    stderr: 'ignore',
    shell: true,
    timeoutMs: options.commandTimeoutMs ?? 10_000,
  })
  if (done.reason)
    throw toError(`the command ${done.reason}`, 'Run the command manually to see its output.')
  return done.stdout.trim()
}

const maxSecretBytes = 64 * 1024

function readSecretFile(
  path: string,
  options: SecretOptions,
  toError: ToError,
  warn: (text: string) => void,
): string {
  const { home, cwd } = { ...currentFolders(), ...options }
  const full = expandPath(path, home, cwd)
  try {
    const stats = statSync(full)
    if (!stats.isFile()) throw new Error('not a file')
    if (stats.size > maxSecretBytes) throw new Error(`larger than ${maxSecretBytes} bytes`)
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      warn(`other users can read ${full}; run chmod 600 on it`)
    return readFileSync(full, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    throw toError(
      `cannot read ${full}: ${errorMessage(cause)}`,
      'Check the path and its permissions.',
      cause,
    )
  }
}

async function readKeychain(
  name: string,
  options: SecretOptions,
  toError: ToError,
): Promise<string> {
  const slash = name.indexOf('/')
  const [service, account] =
    slash < 0 ? ['cowork', name] : [name.slice(0, slash), name.slice(slash + 1)]
  let keyring: Keyring
  try {
    keyring = await (options.loadKeyring ?? (() => import('@napi-rs/keyring')))()
  } catch (cause) {
    throw toError(
      'the package @napi-rs/keyring is not installed',
      'Install it, or use file: or env: instead.',
      cause,
    )
  }
  try {
    return new keyring.Entry(service, account).getPassword() ?? ''
  } catch (cause) {
    throw toError(
      `cannot read ${service}/${account} from the keychain: ${errorMessage(cause)}`,
      'Unlock the keychain, or use file: or env: instead.',
      cause,
    )
  }
}

type RunOptions = {
  stdin: 'inherit' | 'ignore'
  stderr: 'inherit' | 'ignore'
  shell?: boolean
  timeoutMs: number
}

/** Runs a program and returns its output, or the reason of a failure without the output. */
function runCommand(
  command: string,
  args: string[],
  env: Environment,
  { stdin, stderr, shell = false, timeoutMs }: RunOptions,
): Promise<{ stdout: string; reason?: string; isMissing?: boolean }> {
  return new Promise((resolve) => {
    // A shell command gets its own process group, so that a kill also reaches its children.
    const child = spawn(command, args, {
      env,
      shell,
      detached: shell,
      stdio: [stdin, 'pipe', stderr],
    })
    const chunks: Buffer[] = []
    let size = 0
    let reason: string | undefined
    const fail = (message: string) => {
      reason ??= message
      if (shell && child.pid !== undefined && process.platform !== 'win32') kill(-child.pid)
      else child.kill('SIGKILL')
      child.stdout.destroy()
    }
    const timer = setTimeout(() => fail(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxSecretBytes) fail(`printed more than ${maxSecretBytes} bytes`)
      else chunks.push(chunk)
    })
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve({
        stdout: '',
        reason: 'cannot be started',
        isMissing: 'code' in error && error.code === 'ENOENT',
      })
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code !== 0)
        reason ??= code === null ? `was killed by ${signal}` : `failed with exit code ${code}`
      resolve(
        reason === undefined
          ? { stdout: Buffer.concat(chunks).toString('utf8') }
          : { stdout: '', reason },
      )
    })
  })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited already.
  }
}
