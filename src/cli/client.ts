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

const patience = 30_000

/** What a person reads instead, by the code of what was refused: the daemon speaks to agents. */
export type MessageOverrides = Readonly<
  Record<string, Pick<Problem, 'hint'> & Partial<Pick<Problem, 'message'>>>
>

/** Speaks HTTP to the daemon of one state folder, as its owner (I10). */
export function createClient(
  { paths, env }: { paths: StatePaths; env: Environment },
  words: MessageOverrides = {},
  /** The token of a session; without it the owner calls. */
  token?: string,
) {
  async function ask(path: string, body?: object): Promise<unknown> {
    // The lock first: on the port of a daemon that died, anybody may listen, and we carry the owner's token.
    const daemon = findRunningDaemon(paths)
    if (!daemon) throw notRunning(paths)
    const headers = {
      host: `localhost:${daemon.port}`,
      authorization: `Bearer ${token ?? tokenOf(paths, env)}`,
      'user-agent': `cowork-cli/${version()}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const { status, text } = await send(paths.apiSocket, path, headers, body).catch(
      (cause: unknown) => {
        throw unreachable(paths, cause)
      },
    )
    const answer = (parseJson(text) ?? {}) as { error?: Problem }
    if (status >= 400) {
      const error = answer.error ?? { code: 'internal', message: `The daemon answered ${status}.` }
      throw toError({ ...forPeople(error), ...words[error.code] })
    }
    // Loaded here, since a command that gets no answer needs no schema.
    const { findRouteMismatch } = await import('#wire')
    const method = body ? 'POST' : 'GET'
    const [route = path] = path.split('?')
    checkVersion(`${method} ${route}`, findRouteMismatch(method, route, answer))
    return answer
  }

  return {
    /** Calls a tool by the path every call takes. */
    async call<Name extends ToolName>(tool: Name, args: object = {}): Promise<ToolResults[Name]> {
      const answer = await ask(`/api/tools/${encodeURIComponent(tool)}/call`, { arguments: args })
      const { output } = answer as { output: ToolResults[Name] }
      const { findToolMismatch } = await import('#wire')
      checkVersion(tool, findToolMismatch(tool, output))
      return output
    },
    post: async <Path extends PathOf<'POST'>>(
      path: Path,
      body: object,
    ): Promise<RouteAnswers[`POST ${Path}`]> =>
      (await ask(path, body)) as RouteAnswers[`POST ${Path}`],
    get: async <Path extends PathOf<'GET'>>(
      path: Path,
      fields: Query = {},
    ): Promise<RouteAnswers[`GET ${Path}`]> =>
      (await ask(toRequestPath(path, fields))) as RouteAnswers[`GET ${Path}`],
  }
}

/** Writes a field that the path names into the path, such as `{seq}`, and the others into the query. */
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

/** Over the daemon's own socket, so that it does not matter where else it listens, or by which certificate. */
export function send(
  socketPath: string,
  path: string,
  headers: OutgoingHttpHeaders,
  body?: object,
) {
  const method = body ? 'POST' : 'GET'
  const signal = AbortSignal.timeout(patience)
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
    throw new CoworkError(
      'version_mismatch',
      `This command does not understand the answer of ${name}: ${mismatch}`,
      { hint: 'Run `cowork restart`: the command line and the daemon have different versions.' },
    )
}

/** A person at a terminal does not write calls of tools. */
const forPeople = (error: Problem): Problem =>
  error.hint?.startsWith('Call it like this: ')
    ? { ...error, hint: '`--help` after the command shows what it takes.' }
    : error

/** The owner's file; where there is none, as for a daemon in a container, the token of the environment. */
function tokenOf(paths: StatePaths, env: Environment): string {
  const file = statSync(paths.ownerToken, { throwIfNoEntry: false })
  if (!file) {
    if (env['COWORK_TOKEN']) return env['COWORK_TOKEN']
    throw new CoworkError(
      'auth_error',
      `There is no token to act as the owner: ${paths.ownerToken} is missing.`,
      {
        hint: 'Restart the daemon as this user, or set COWORK_TOKEN.',
      },
    )
  }
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0)
    throw new CoworkError('owner_token_unsafe', `Other users can read ${paths.ownerToken}.`, {
      hint: `Close it with \`chmod 600 ${paths.ownerToken}\`.`,
    })
  return readFileSync(paths.ownerToken, 'utf8').trim()
}

export const notRunning = (paths: StatePaths): CoworkError =>
  new CoworkError('daemon_not_running', `No daemon runs on ${paths.dir}.`, {
    hint: 'Start it with `cowork up -d`.',
  })

function unreachable(paths: StatePaths, cause: unknown): CoworkError {
  if (cause instanceof Error && ['TimeoutError', 'AbortError'].includes(cause.name))
    return new CoworkError(
      'timeout',
      `The daemon did not answer within ${patience / 1000} seconds.`,
      {
        hint: `Its log is ${paths.log}.`,
        cause,
      },
    )
  return new CoworkError('daemon_not_running', `The daemon on ${paths.dir} does not answer.`, {
    hint: `It may be starting or ending: try again. Its log is ${paths.log}.`,
    cause,
  })
}
