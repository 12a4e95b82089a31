// Clients that write continuously and record acknowledged writes.
import type { Daemon } from '../daemon.ts'

const version = '2026-07-28'
const meta = 'io.modelcontextprotocol'

type Write = (daemon: Daemon, target: string) => Promise<boolean>

const buildInput = (target: string) => ({ domain: 'crash', action: 'write', target })

/** Writes as a person through the API. */
const byApi: Write = async ({ port, owner }, target) => {
  const response = await fetch(`http://127.0.0.1:${port}/api/tools/cowork_log/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: buildInput(target) }),
  })
  const answer = (await response.json()) as { output?: { action_id?: string } }
  return answer.output?.action_id !== undefined
}

/** Writes as an agent through MCP. */
const byMcp: Write = async ({ port }, target) => {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': 'cowork_log',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'cowork_log',
        arguments: buildInput(target),
        _meta: {
          [`${meta}/protocolVersion`]: version,
          [`${meta}/clientCapabilities`]: {},
          [`${meta}/clientInfo`]: { name: 'crash', version: '1' },
        },
      },
    }),
  })
  const answer = (await response.json()) as { result?: { isError?: boolean } }
  return answer.result !== undefined && answer.result.isError !== true
}

const writers: Write[] = Array.from({ length: 16 }, (_, i) => (i % 2 ? byApi : byMcp))

export type Written = {
  readonly acknowledged: readonly string[]
  /** Refused writes; none is expected. */
  readonly refused: readonly string[]
}

/** Writes until the daemon stops; reports the first acknowledged write. */
export async function writeUntilKilled(
  daemon: Daemon,
  round: number,
  onFirst: () => void,
): Promise<Written> {
  const acknowledged: string[] = []
  const refused: string[] = []
  await Promise.all(
    writers.map(async (write, writer) => {
      for (let n = 0; ; n++) {
        const target = `${round}-${writer}-${n}`
        const done = await write(daemon, target).catch(() => undefined)
        if (done === undefined) return
        if (done && acknowledged.push(target) === 1) onFirst()
        if (done) continue
        refused.push(target)
      }
    }),
  )
  return { acknowledged, refused }
}
