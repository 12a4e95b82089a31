// Tasks that live in memory, and the tools of the suite that answer with one.
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { newId } from '#base/ids.ts'
import type { Tool } from '#base/tool.ts'
import { requireTaskSupport, taskResult } from '../../src/server/mcp/tasks.ts'
import type { TaskRecord, TaskSource } from '../../src/server/mcp/tasks.ts'
import { ask, elicit, parseForm, oneField, rawTool, text } from './tool.ts'

type Result = Readonly<Record<string, unknown>>
type Work = {
  readonly signal: AbortSignal
  /** Puts questions to the client and waits until all are answered. */
  ask(questions: readonly unknown[]): Promise<unknown[]>
}

const isOver = ({ status }: TaskRecord) => ['completed', 'failed', 'cancelled'].includes(status)

export function createTasks() {
  const tasks = new Map<string, { task: TaskRecord; end: AbortController }>()
  const waiting = new Map<string, (answer: unknown) => void>()

  function change(id: string, next: Partial<TaskRecord>): void {
    const found = tasks.get(id)
    if (!found || isOver(found.task)) return
    found.task = { ...found.task, ...next, lastUpdatedAt: new Date().toISOString() }
  }

  function start(work: (api: Work) => Promise<Result>): TaskRecord {
    const at = new Date().toISOString()
    const task: TaskRecord = {
      taskId: newId(),
      status: 'working',
      createdAt: at,
      lastUpdatedAt: at,
      ttlMs: 3_600_000,
      pollIntervalMs: 100,
    }
    const end = new AbortController()
    const { taskId } = task
    tasks.set(taskId, { task, end })
    const asking = (questions: readonly unknown[]) => {
      const keys = questions.map(() => newId())
      const inputRequests = Object.fromEntries(keys.map((key, at) => [key, questions[at]]))
      change(taskId, { status: 'input_required', inputRequests })
      return Promise.all(
        keys.map((key) => new Promise((resolve) => void waiting.set(key, resolve))),
      )
    }
    work({ signal: end.signal, ask: asking }).then(
      (result) => change(taskId, { status: 'completed', result }),
      (error: unknown) =>
        change(taskId, { status: 'failed', error: { code: -32603, message: String(error) } }),
    )
    return task
  }

  function answer(taskId: string, responses: Readonly<Record<string, unknown>>): void {
    for (const [key, response] of Object.entries(responses)) {
      const { inputRequests = {}, status } = tasks.get(taskId)?.task ?? {}
      if (status !== 'input_required' || !(key in inputRequests)) continue
      const { [key]: _, ...left } = inputRequests
      change(taskId, { inputRequests: left })
      waiting.get(key)?.(response)
      if (Object.keys(left).length > 0) continue
      const found = tasks.get(taskId)
      if (!found) continue
      const { inputRequests: __, ...working } = found.task
      found.task = { ...working, status: 'working' }
    }
  }

  const source: TaskSource = {
    get: (id) => Promise.resolve(tasks.get(id)?.task),
    update(id, responses) {
      answer(id, responses)
      return Promise.resolve(tasks.has(id))
    },
    cancel(id) {
      change(id, { status: 'cancelled' })
      tasks.get(id)?.end.abort()
      return Promise.resolve(tasks.has(id))
    },
  }
  return { source, start }
}

const seconds = z.object({ seconds: z.coerce.number().default(1) })
const confirmation = elicit('Really?', oneField('confirm', 'boolean'))

export const taskTools = ({ start }: ReturnType<typeof createTasks>): Tool[] => [
  rawTool('greet', (_, { name }) => text(`Hello, ${String(name)}!`)),
  rawTool('slow_compute', async (exchange, args) => {
    const compute = async (signal?: AbortSignal) => {
      await delay(seconds.parse(args).seconds * 1000, undefined, { signal, ref: false })
      return text('Computed.')
    }
    return exchange.tasks ? taskResult(start(({ signal }) => compute(signal))) : compute()
  }),
  rawTool('failing_job', (_, __, call) => {
    requireTaskSupport(call)
    return taskResult(
      start(async () => {
        await delay(1000)
        return { ...text('It failed.'), isError: true }
      }),
    )
  }),
  rawTool('protocol_error_job', (_, __, call) => {
    requireTaskSupport(call)
    return taskResult(start(() => Promise.reject(new Error('it broke'))))
  }),
  rawTool('confirm_delete', (exchange, { filename }) => {
    if (!exchange.tasks) return text('Nothing was deleted.')
    return taskResult(
      start(async (work) => {
        const [confirmed] = await work.ask([confirmation])
        return text(`${String(filename)}: ${JSON.stringify(confirmed)}`)
      }),
    )
  }),
  rawTool('multi_input', (_, __, call) => {
    requireTaskSupport(call)
    return taskResult(
      start(async (work) => text(JSON.stringify(await work.ask([confirmation, confirmation])))),
    )
  }),
  rawTool('test_tool_with_task', (exchange, _, call) => {
    const answer = parseForm(exchange, 'user_name', { name: z.string() })
    if (!answer) return ask({ user_name: elicit('Your name?', oneField('name')) })
    requireTaskSupport(call)
    return taskResult(start(() => Promise.resolve(text(`Hello, ${answer.name}!`))))
  }),
]
