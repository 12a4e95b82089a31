import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '#base/config/env.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { createHttpClient, createLineClient, initialize, listTools } from '../mcp-client.ts'
import type { McpClient } from '../mcp-client.ts'

export type HandshakeResult = {
  readonly server: string
  readonly protocol: string
  readonly tools: number
}

type Command = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Environment
}

const revision = '2025-06-18'
const greetingTimeoutMs = 30_000

/** Starts what a client was told to start, and greets it as the client will (K4). */
export async function handshakeCommand({ command, args, env }: Command): Promise<HandshakeResult> {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  let told = ''
  child.stderr.on('data', (chunk: Buffer) => (told = (told + chunk.toString()).slice(-2000)))
  // It may end before it has read what we say; that it did is told below.
  child.stdin.on('error', () => undefined)
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
  const client = createLineClient(child.stdout, (line) => void child.stdin.write(line))
  try {
    return await Promise.race([greet(client), failed, timeOut()])
  } catch (cause) {
    throw unanswered([command, ...args].join(' '), told.trim(), cause)
  } finally {
    child.stdin.end()
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill()
  }
}

/** The same over HTTP, with the token that the client's variable will hold. */
export async function handshakeUrl(url: string, token: string): Promise<HandshakeResult> {
  const client = createHttpClient(url, token, revision)
  try {
    return await Promise.race([greet(client), timeOut()])
  } catch (cause) {
    throw unanswered(url, '', cause)
  } finally {
    await client.end()
  }
}

/** A server that answers page after page must not keep `connect` waiting. */
const timeOut = (): Promise<never> =>
  sleep(greetingTimeoutMs, undefined, { ref: false }).then(() => {
    throw new Error(`the greeting took more than ${greetingTimeoutMs / 1000} seconds`)
  })

async function greet(client: McpClient): Promise<HandshakeResult> {
  const { serverInfo, protocolVersion } = await initialize(client, 'cowork-connect', revision)
  const { length: tools } = await listTools(client)
  // Tools are listed without a token: only a call shows that the client has one where it is needed.
  const status = await client.ask('tools/call', { name: 'cowork_status', arguments: {} })
  const refusal = (status['structuredContent'] ?? {}) as Readonly<Record<string, unknown>>
  if (refusal['auth_error']) throw new Error(String(refusal['message']))
  const { name, version } = { ...(serverInfo as Record<string, unknown>) }
  const server = `${String(name)} ${String(version)}`
  return { server, protocol: String(protocolVersion), tools }
}

const unanswered = (what: string, told: string, cause: unknown) =>
  new CoworkError(
    'handshake_failed',
    `${what} did not answer as a client needs it: ${errorMessage(cause)}.${told && `\n${told}`}`,
    { hint: '`cowork doctor` may find the cause.', cause },
  )
