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
const handshakeTimeoutMs = 30_000

/** Starts the configured command and runs the handshake of a client (K4). */
export async function handshakeCommand({ command, args, env }: Command): Promise<HandshakeResult> {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  let errorText = ''
  child.stderr.on(
    'data',
    (chunk: Buffer) => (errorText = (errorText + chunk.toString()).slice(-2000)),
  )
  // The process may exit before it has read the input; the exit is reported below.
  child.stdin.on('error', () => undefined)
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
  const client = createLineClient(child.stdout, (line) => void child.stdin.write(line))
  try {
    return await Promise.race([runHandshake(client), failed, rejectAfterTimeout()])
  } catch (cause) {
    throw handshakeError([command, ...args].join(' '), errorText.trim(), cause)
  } finally {
    child.stdin.end()
    child.stdout.destroy()
    child.stderr.destroy()
    child.kill()
  }
}

/** Runs the handshake over HTTP, with the token of the client's variable. */
export async function handshakeUrl(url: string, token: string): Promise<HandshakeResult> {
  const client = createHttpClient(url, token, revision)
  try {
    return await Promise.race([runHandshake(client), rejectAfterTimeout()])
  } catch (cause) {
    throw handshakeError(url, '', cause)
  } finally {
    await client.end()
  }
}

/** A server that returns page after page must not block `connect`. */
const rejectAfterTimeout = (): Promise<never> =>
  sleep(handshakeTimeoutMs, undefined, { ref: false }).then(() => {
    throw new Error(`the handshake took more than ${handshakeTimeoutMs / 1000} seconds`)
  })

async function runHandshake(client: McpClient): Promise<HandshakeResult> {
  const { serverInfo, protocolVersion } = await initialize(client, 'cowork-connect', revision)
  const { length: tools } = await listTools(client)
  // Tools are listed without a token; only a call shows that the token works.
  const status = await client.request('tools/call', { name: 'cowork_status', arguments: {} })
  const refusal = (status['structuredContent'] ?? {}) as Readonly<Record<string, unknown>>
  if (refusal['auth_error']) throw new Error(String(refusal['message']))
  const { name, version } = { ...(serverInfo as Record<string, unknown>) }
  const server = `${String(name)} ${String(version)}`
  return { server, protocol: String(protocolVersion), tools }
}

const handshakeError = (endpoint: string, errorText: string, cause: unknown) =>
  new CoworkError(
    'handshake_failed',
    `MCP handshake failed with ${endpoint}: ${errorMessage(cause)}.${
      errorText &&
      `
${errorText}`
    }`,
    { hint: 'Run `cowork doctor` to find the cause.', cause },
  )
