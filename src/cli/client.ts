import { readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import type { RouteAnswers, ToolName, ToolResults } from '#wire'
import { toError, findRunningDaemon } from './daemon.ts'
import type { Problem } from './exit.ts'
import { version } from './launcher.ts'
import { parseJson } from './output.ts'

export type Client = ReturnType<typeof createClient>

type PathOf<Method extends string> = keyof RouteAnswers extends infer Route
  ? Route extends `${Method} ${infer Path}`
    ? Path
    : never
  : never

type Query = Readonly<Record<string, string | number | boolean | undefined>>

const requestTimeoutMs = 30_000

/** Messages and hints by error code, for people: those of the daemon address agents. */
export type MessageOverrides = Readonly<
  Record<string, Pick<Problem, 'hint'> & Partial<Pick<Problem, 'message'>>>
>

/** Creates an HTTP client for the daemon of one state directory, with the owner's rights (I10). */
export function createClient(
  { paths, env }: { paths: StatePaths; env: Environment },
  messages: MessageOverrides = {},
  /** A session token; without it, the owner's token is used. */
  token?: string,
) {
  async function sendRequest(path: string, body?: object): Promise<unknown> {
    // Check the lock first: after a crash any program can listen on the port, and the request has the owner's token.
    const daemon = findRunningDaemon(paths)
    if (!daemon) throw notRunningError(paths)
    const headers = {
      host: `localhost:${daemon.port}`,
      authorization: `Bearer ${token ?? readToken(paths, env)}`,
      'user-agent': `cowork-cli/${version()}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const { status, text } = await send(paths.apiSocket, path, headers, body).catch(
      (cause: unknown) => {
        throw unreachableError(paths, cause)
      },
    )
    const answer = (parseJson(text) ?? {}) as { error?: Problem }
    if (status >= 400) {
      const error = answer.error ?? { code: 'internal', message: `The daemon answered ${status}.` }
      throw toError({ ...toPersonHint(error), ...messages[error.code] })
    }
    // Loaded here: a command that gets no reply needs no schema.
    const { findRouteMismatch } = await import('#wire')
    const method = body ? 'POST' : 'GET'
    const [route = path] = path.split('?')
    checkVersion(`${method} ${route}`, findRouteMismatch(method, route, answer))
    return answer
  }

  return {
    /** Calls a tool through dispatch. */
    async call<Name extends ToolName>(tool: Name, args: object = {}): Promise<ToolResults[Name]> {
      const answer = await sendRequest(`/api/tools/${encodeURIComponent(tool)}/call`, {
        arguments: args,
      })
      const { output } = answer as { output: ToolResults[Name] }
      const { findToolMismatch } = await import('#wire')
      checkVersion(tool, findToolMismatch(tool, output))
      return output
    },
    post: async <Path extends PathOf<'POST'>>(
      path: Path,
      body: object,
    ): Promise<RouteAnswers[`POST ${Path}`]> =>
      (await sendRequest(path, body)) as RouteAnswers[`POST ${Path}`],
    get: async <Path extends PathOf<'GET'>>(
      path: Path,
      fields: Query = {},
    ): Promise<RouteAnswers[`GET ${Path}`]> =>
      (await sendRequest(toRequestPath(path, fields))) as RouteAnswers[`GET ${Path}`],
  }
}

/** Puts a field that the path names, such as `{seq}`, into the path, and the others into the query. */
export function toRequestPath(path: string, fields: Query): string {
  const search = new URLSearchParams()
  let filledPath = path
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (path.includes(`{${name}}`))
      filledPath = filledPath.replace(`{${name}}`, () => encodeURIComponent(value))
    else search.set(name, String(value))
  }
  return search.size > 0 ? `${filledPath}?${search.toString()}` : filledPath
}

/** Sends the request over the daemon's own socket, independent of its other listeners and certificates. */
export function send(
  socketPath: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: object,
) {
  const method = body ? 'POST' : 'GET'
  const signal = AbortSignal.timeout(requestTimeoutMs)
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ socketPath, path, method, headers, signal }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

function checkVersion(name: string, mismatch: string | undefined): void {
  if (mismatch !== undefined)
    throw new CoworkError('version_mismatch', `Unexpected response of ${name}: ${mismatch}`, {
      hint: 'Run `cowork restart`: the command line and the daemon have different versions.',
    })
}

/** Replaces a hint that shows a tool call: people use options. */
const toPersonHint = (error: Problem): Problem =>
  error.hint?.startsWith('Call it like this: ')
    ? { ...error, hint: 'Run the command with --help for its arguments.' }
    : error

/** Reads the owner's token from its file or, for a daemon in a container, from the environment. */
function readToken(paths: StatePaths, env: Environment): string {
  const file = statSync(paths.ownerToken, { throwIfNoEntry: false })
  if (!file) {
    if (env['COWORK_TOKEN']) return env['COWORK_TOKEN']
    throw new CoworkError('auth_error', `Owner token not found: ${paths.ownerToken}.`, {
      hint: 'Restart the daemon as this user, or set COWORK_TOKEN.',
    })
  }
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0)
    throw new CoworkError('owner_token_unsafe', `Other users can read ${paths.ownerToken}.`, {
      hint: `Run \`chmod 600 ${paths.ownerToken}\`.`,
    })
  return readFileSync(paths.ownerToken, 'utf8').trim()
}

export const notRunningError = (paths: StatePaths): CoworkError =>
  new CoworkError('daemon_not_running', `The daemon is not running on ${paths.dir}.`, {
    hint: 'Run `cowork up -d`.',
  })

function unreachableError(paths: StatePaths, cause: unknown): CoworkError {
  if (cause instanceof Error && ['TimeoutError', 'AbortError'].includes(cause.name))
    return new CoworkError(
      'timeout',
      `The daemon did not answer within ${requestTimeoutMs / 1000} seconds.`,
      {
        hint: `Read the log: ${paths.log}.`,
        cause,
      },
    )
  return new CoworkError('daemon_not_running', `The daemon on ${paths.dir} does not answer.`, {
    hint: `Try again: it may be starting or stopping. Log: ${paths.log}.`,
    cause,
  })
}
