import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Environment, Folders } from './env.ts'
import { currentEnvironment, currentFolders, expandPath } from './env.ts'

export type SecretOptions = Partial<Folders> & {
  env?: Environment
  /** Let `op` ask in the terminal. Never where stdin carries a protocol. */
  interactive?: boolean
  /** The optional package @napi-rs/keyring. */
  loadKeyring?: () => Promise<Keyring>
  commandTimeoutMs?: number
}
type Keyring = { Entry: new (service: string, account: string) => { getPassword(): string | null } }

/** One reference. `what` names the setting in messages; the value itself is in none of them. */
export async function resolveReference(
  reference: string,
  what: string,
  options: SecretOptions = {},
  warnings: string[] = [],
): Promise<string> {
  const refuse = (why: string, hint: string, cause?: unknown): CoworkError =>
    new CoworkError('secret_unresolved', `Cannot resolve ${what}: ${why}.`, {
      hint,
      details: { setting: what, kind: reference.split(':', 1)[0] },
      cause,
    })
  const value = await valueBehind(
    reference,
    options,
    refuse,
    (text) => void warnings.push(`${what}: ${text}`),
  )
  if (value === '')
    throw refuse(
      `${kindOf(reference)} gave nothing`,
      'Store the secret first, or correct the reference.',
    )
  return value
}

const kindOf = (reference: string) => (reference.startsWith('cmd:') ? 'the command' : reference)

type Refuse = (why: string, hint: string, cause?: unknown) => CoworkError

async function valueBehind(
  reference: string,
  options: SecretOptions,
  refuse: Refuse,
  warn: (text: string) => void,
): Promise<string> {
  const env = options.env ?? currentEnvironment()
  const rest = reference.slice(reference.indexOf(':') + 1)
  if (reference.startsWith('env:')) {
    const value = env[rest]
    if (value === undefined)
      throw refuse(`the environment variable ${rest} is not set`, `Set ${rest} before starting.`)
    return value
  }
  if (reference.startsWith('file:')) return fromFile(rest, options, refuse, warn)
  if (reference.startsWith('op://')) {
    const read = await run('op', ['read', '--no-newline', reference], env, {
      stdin: options.interactive ? 'inherit' : 'ignore',
      stderr: options.interactive ? 'inherit' : 'ignore',
      timeoutMs: 120_000,
    })
    if (read.missing)
      throw refuse(
        'the 1Password CLI `op` is not installed',
        'Install it, or use another kind of reference.',
      )
    if (read.why)
      throw refuse(
        `\`op read ${reference}\` ${read.why}`,
        'Run `op signin`, check the vault, item and field, then start again.',
      )
    return read.stdout.trim()
  }
  if (reference.startsWith('keychain:')) return fromKeychain(rest, options, refuse)
  const done = await run(rest, [], env, {
    stdin: 'ignore',
    stderr: 'ignore',
    shell: true,
    timeoutMs: options.commandTimeoutMs ?? 10_000,
  })
  if (done.why)
    throw refuse(
      `the command ${done.why}`,
      'Run it by hand to see why; its output is not shown here.',
    )
  return done.stdout.trim()
}

const largestSecret = 64 * 1024

function fromFile(
  path: string,
  options: SecretOptions,
  refuse: Refuse,
  warn: (text: string) => void,
): string {
  const { home, cwd } = { ...currentFolders(), ...options }
  const full = expandPath(path, home, cwd)
  try {
    const about = statSync(full)
    if (!about.isFile()) throw new Error('it is not a file')
    if (about.size > largestSecret) throw new Error(`it is larger than ${largestSecret} bytes`)
    if (process.platform !== 'win32' && (about.mode & 0o077) !== 0)
      warn(`other users can read ${full}; run chmod 600 on it`)
    return readFileSync(full, 'utf8').replace(/\r?\n$/, '')
  } catch (cause) {
    throw refuse(
      `the file ${full} cannot be read: ${errorMessage(cause)}`,
      'Check the path and its permissions.',
      cause,
    )
  }
}

async function fromKeychain(name: string, options: SecretOptions, refuse: Refuse): Promise<string> {
  const slash = name.indexOf('/')
  const [service, account] =
    slash < 0 ? ['cowork', name] : [name.slice(0, slash), name.slice(slash + 1)]
  let keyring: Keyring
  try {
    keyring = await (options.loadKeyring ?? (() => import('@napi-rs/keyring')))()
  } catch (cause) {
    throw refuse(
      'the package @napi-rs/keyring is not installed',
      'Install it, or use file: or env: instead.',
      cause,
    )
  }
  try {
    return new keyring.Entry(service, account).getPassword() ?? ''
  } catch (cause) {
    throw refuse(
      `the keychain did not give ${service}/${account}: ${errorMessage(cause)}`,
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

/** What a program printed, or why there is nothing: never its output when it failed. */
function run(
  command: string,
  args: string[],
  env: Environment,
  { stdin, stderr, shell = false, timeoutMs }: RunOptions,
): Promise<{ stdout: string; why?: string; missing?: boolean }> {
  return new Promise((settle) => {
    // A shell command gets a process group of its own, so that its children end with it.
    const child = spawn(command, args, {
      env,
      shell,
      detached: shell,
      stdio: [stdin, 'pipe', stderr],
    })
    const chunks: Buffer[] = []
    let size = 0
    let why: string | undefined
    const end = (reason: string) => {
      why ??= reason
      if (shell && child.pid !== undefined && process.platform !== 'win32') kill(-child.pid)
      else child.kill('SIGKILL')
      child.stdout.destroy()
    }
    const timer = setTimeout(() => end(`took longer than ${timeoutMs / 1000} s`), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > largestSecret) end(`printed more than ${largestSecret} bytes`)
      else chunks.push(chunk)
    })
    child.on('error', (error) => {
      clearTimeout(timer)
      settle({
        stdout: '',
        why: 'could not be started',
        missing: 'code' in error && error.code === 'ENOENT',
      })
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code !== 0)
        why ??= code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
      settle(
        why === undefined
          ? { stdout: Buffer.concat(chunks).toString('utf8') }
          : { stdout: '', why },
      )
    })
  })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}
