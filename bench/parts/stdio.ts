// A minimal MCP client over stdio, so that the measurement covers the server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type Launch = {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

type Result = {
  readonly isError?: boolean
  readonly content?: readonly { readonly text?: string }[]
}
type Answer = { id?: number; result?: Result; error?: unknown }

/** Resolves after the response to `initialize`. */
export async function startStdio({ command, args, env = process.env }: Launch) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<
    number,
    { resolve: (answer: Answer) => void; reject: (why: Error) => void }
  >()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    const pending = waiting.get(answer.id ?? -1)
    waiting.delete(answer.id ?? -1)
    pending?.resolve(answer)
  })
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the server exited with ${code}`))
  })
  let lastId = 0
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = (method: string, params: object) =>
    new Promise<Answer>((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      send({ id, method, params })
    })

  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  send({ method: 'notifications/initialized' })
  return {
    async call(name: string, input: object): Promise<Result> {
      const answer = await request('tools/call', { name, arguments: input })
      if (answer.error || answer.result?.isError)
        throw new Error(`${name} failed: ${JSON.stringify(answer)}`)
      return answer.result ?? {}
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill(), 2000)
      if (child.exitCode === null) await once(child, 'exit')
      clearTimeout(timer)
    },
  }
}
