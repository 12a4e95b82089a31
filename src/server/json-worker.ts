/** Checks and parses one JSON text at a time, in a thread of its own. */
import { parentPort } from 'node:worker_threads'
import { findJsonExcess } from '#base/json-size.ts'

export type JsonQuestion = {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Whose calls alone are taken. */
  readonly tools?: readonly string[] | undefined
}
export type JsonAnswer =
  | { readonly value: unknown }
  | { readonly excess: 'values' | 'depth' | 'tool' | 'invalid' }

type Call = {
  readonly method?: unknown
  readonly params?: {
    readonly name?: unknown
    readonly arguments?: { readonly tool?: unknown } | null
  }
}

function isCallOf(tools: readonly string[], value: unknown): boolean {
  const { method, params } = (value ?? {}) as Call
  const name = params?.name === 'cowork_use' ? params.arguments?.tool : params?.name
  return method === 'tools/call' && tools.some((tool) => tool === name)
}

function answerTo({ bytes, tools }: JsonQuestion): JsonAnswer {
  const excess = findJsonExcess(bytes)
  if (excess) return { excess }
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer).toString('utf8'))
    return tools && !isCallOf(tools, value) ? { excess: 'tool' } : { value }
  } catch {
    return { excess: 'invalid' }
  }
}

parentPort?.on('message', (question: JsonQuestion) => {
  parentPort?.postMessage(answerTo(question))
})
