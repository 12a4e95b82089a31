import { SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { limits } from './limits.ts'
import type { ServerTransport } from './settings.ts'

/** Gets a line of the standard error of a stdio server. */
export type OnStderr = (line: string) => void

/**
 * Opens the transport of a server. A process gets the variables of the settings and a few basics such as PATH and
 * HOME, never the environment of the daemon, where secrets of other servers are (U9).
 */
export function createTransport(
  settings: ServerTransport,
  { onStderr, home }: { readonly onStderr: OnStderr; readonly home: string },
): Transport {
  if (settings.type === 'stdio') {
    const transport = new StdioClientTransport({
      command: settings.command,
      args: settings.args,
      env: { ...getDefaultEnvironment(), ...settings.env },
      cwd: settings.cwd ?? home,
      stderr: 'pipe',
      maxBufferSize: limits.messageBytes,
    })
    readLines(transport.stderr, onStderr)
    return transport
  }
  const url = new URL(settings.url)
  const options = { requestInit: { headers: settings.headers }, fetch: limitedFetch }
  return settings.type === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, options)
}

/** Fails a response that is larger than the limit. An event stream has no end, so it is limited per event. */
const limitedFetch: FetchLike = async (url, init) => {
  const response = await fetch(url, init)
  if (!response.body) return response
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  let size = 0
  const limited = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const end = isStream ? endOfLastEvent(chunk) : -1
        size = end < 0 ? size + chunk.length : chunk.length - end
        if (size > limits.messageBytes)
          controller.error(new Error(`a message is larger than ${limits.messageBytes} bytes`))
        else controller.enqueue(chunk)
      },
    }),
  )
  const copy = new Response(limited, response)
  // The SDK resolves redirects and error texts by the address.
  Object.defineProperty(copy, 'url', { value: response.url })
  return copy
}

/** Returns the offset after the last empty line, which ends an event, or -1. */
function endOfLastEvent(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'))
}

function readLines(stream: StdioClientTransport['stderr'], onLine: OnStderr): void {
  let rest = ''
  stream?.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = (lines.pop() ?? '').slice(-limits.stderrLineLength)
    for (const line of lines) onLine(line.slice(0, limits.stderrLineLength))
  })
}
