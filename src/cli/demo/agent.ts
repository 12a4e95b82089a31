import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'
import { notRunning, send } from '../client.ts'
import { runningDaemon } from '../daemon.ts'

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

type Result = {
  readonly isError?: boolean
  readonly structuredContent?: Readonly<Record<string, unknown>>
}

/** An agent of the demo: it calls over MCP like every other, and has no powers of its own. */
export function createDemoAgent(paths: StatePaths, id: string, token: string | undefined) {
  async function call(tool: string, args: object): Promise<Result> {
    const daemon = runningDaemon(paths)
    if (!daemon) throw notRunning(paths)
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: tool,
        arguments: { agent_id: id, ...args },
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientCapabilities`]: {},
          [`${meta}/clientInfo`]: { name: 'cowork demo', version: '1' },
        },
      },
    }
    const headers = {
      host: `localhost:${daemon.port}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': tool,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const { text } = await send(paths.apiSocket, '/mcp', headers, body)
    const { result, error } = JSON.parse(text) as {
      result?: Result
      error?: { message: string }
    }
    if (result) return result
    throw new CoworkError('demo_failed', `${id} was refused: ${error?.message ?? text}`, {
      hint: '`cowork doctor` looks for what is wrong.',
    })
  }
  return { call }
}
