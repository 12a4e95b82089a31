/** Checks and parses one JSON text at a time, in a worker thread. */
import { parentPort } from 'node:worker_threads'
import { findJsonExcess } from '#base/json-size.ts'

export type JsonRequest = {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Accepts only calls of these tools. */
  readonly tools?: readonly string[] | undefined
}
export type JsonResult =
  | { readonly value: unknown }
  | { readonly excess: 'values' | 'depth' | 'tool' | 'invalid' }

type Call = {
  readonly method?: unknown
  readonly params?: {
    readonly name?: unknown
    readonly arguments?: { readonly tool?: unknown } | null
  }
}

function isCallTo(tools: readonly string[], value: unknown): boolean {
  const { method, params } = (value ?? {}) as Call
  const name = params?.name === 'cowork_use' ? params.arguments?.tool : params?.name
  return method === 'tools/call' && tools.some((tool) => tool === name)
}

function parseRequest({ bytes, tools }: JsonRequest): JsonResult {
  const excess = findJsonExcess(bytes)
  if (excess) return { excess }
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer).toString('utf8'))
    return tools && !isCallTo(tools, value) ? { excess: 'tool' } : { value }
  } catch {
    return { excess: 'invalid' }
  }
}

parentPort?.on('message', (request: JsonRequest) => {
  parentPort?.postMessage(parseRequest(request))
})
