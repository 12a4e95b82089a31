import type * as z from 'zod'
import { actorOf } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Draft } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Call, Tool, Touch } from '#base/tool.ts'
import type { Ledger } from '#ledger'
import type { Catalogue } from './catalogue.ts'
import type { Attempt, Check, Refusal } from './checks.ts'

export type CallRequest = {
  readonly tool: string
  readonly arguments: unknown
  readonly caller: Caller
  readonly signal?: AbortSignal
  readonly progress?: Call['progress']
  readonly exchange?: unknown
}

/** A refusal is a value: expected, typed, shown to people. */
export type Answer =
  | {
      readonly status: 'done'
      readonly call: string
      readonly tool: Tool
      readonly output: unknown
    }
  | ({ readonly status: 'refused' | 'failed'; readonly call: string } & Refusal)

export type Dispatch = (request: CallRequest) => Promise<Answer>

export type DispatchDeps = {
  readonly catalogue: Catalogue
  readonly checks: readonly Check[]
  readonly ledger: Ledger
  readonly now: Clock
  readonly log: Log
}

/** The one path of every call: understand → decide → record → run → record. */
export function createDispatch({ catalogue, checks, ledger, now, log }: DispatchDeps): Dispatch {
  return async function dispatch(request) {
    const id = newId()
    const startedAt = now()
    const refuse = (refusal: Refusal, touch?: Touch): Answer => {
      ledger.note({
        ...entryOf('call.refused', id, request.caller, touch),
        outcome: refusal.code,
        data: { tool: request.tool.slice(0, 128), message: refusal.message },
      })
      return { status: 'refused', call: id, ...refusal }
    }

    const broken = ledger.trouble()
    if (broken) return { status: 'refused', call: id, ...broken }
    const understood = understand(catalogue, request)
    if ('refusal' in understood) return refuse(understood.refusal)
    const { attempt } = understood
    for (const check of checks) {
      const verdict = await check(attempt)
      if (verdict.mode === 'refuse') {
        const { mode: _, ...refusal } = verdict
        return refuse(refusal, attempt.touch)
      }
    }
    return perform(id, startedAt, attempt, request)
  }

  async function perform(
    id: string,
    startedAt: number,
    attempt: Attempt,
    request: CallRequest,
  ): Promise<Answer> {
    const { tool, input, caller, touch } = attempt
    const call: Call = {
      id,
      caller,
      signal: request.signal ?? new AbortController().signal,
      progress: request.progress ?? (() => undefined),
      ...(request.exchange !== undefined && { exchange: request.exchange }),
    }
    const entry = (type: string, more: Partial<Draft> = {}): Draft => ({
      ...entryOf(type, id, caller, touch),
      ...more,
      data: { tool: tool.name, effect: tool.effect, ...more.data },
    })
    const timed = () => ({ ms: now() - startedAt })
    const done = () => entry('call.done', { outcome: 'done', data: timed() })

    async function carryOut(): Promise<unknown> {
      call.signal.throwIfAborted()
      const { change, run } = tool
      if (change)
        // Store-only tools commit what they change and the record of it in one transaction (L1).
        return ledger.transact(async (tx) => {
          const changed = await change(tx, input, call)
          tx.append({ ...done(), payload: input })
          return changed
        })
      if (tool.effect === 'read') {
        const output = await run(input, call)
        ledger.note(done())
        return output
      }
      await ledger.record(
        entry('call.started', { data: { decision: { mode: 'act' } }, payload: input }),
      )
      isStarted = true
      const output = await run(input, call)
      await ledger.record(done())
      return output
    }

    let isStarted = false
    try {
      return { status: 'done', call: id, tool, output: await carryOut() }
    } catch (error) {
      const failure = explain(error, call, log)
      const failed = entry('call.failed', {
        outcome: failure.code,
        data: { ...timed(), message: failure.message },
      })
      // What began and is on record must also end on record before anyone hears of it (L12).
      if (isStarted) await ledger.record(failed).catch(() => ledger.note(failed))
      else ledger.note(failed)
      return { status: 'failed', call: id, ...failure }
    }
  }
}

function understand(
  catalogue: Catalogue,
  request: CallRequest,
): { attempt: Attempt } | { refusal: Refusal } {
  const tool = catalogue.find(request.tool)
  if (!tool)
    return {
      refusal: {
        code: 'unknown_tool',
        message: `There is no tool named ${JSON.stringify(request.tool.slice(0, 128))}.`,
        hint: 'tools/list names those there are.',
      },
    }
  const parsed = tool.input.safeParse(request.arguments ?? {})
  if (!parsed.success)
    return {
      refusal: {
        code: 'invalid_input',
        message: `${tool.name} was called with arguments it does not take: ${flatten(parsed.error)}`,
        hint: `The input schema of ${tool.name} in tools/list says what it takes.`,
        details: { issues: parsed.error.issues.map(({ path, message }) => ({ path, message })) },
      },
    }
  const input = parsed.data
  const touch = tool.touches?.(input) ?? { domain: tool.toolset }
  return { attempt: { tool, input, caller: request.caller, touch } }
}

const flatten = (error: z.ZodError) =>
  error.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ')

function entryOf(type: string, call: string, caller: Caller, touch?: Touch): Draft {
  return {
    type,
    actor: actorOf(caller),
    ids: { call },
    ...(touch && { domain: touch.domain }),
    ...(touch?.target !== undefined && { subject: touch.target }),
    ...(caller.claim !== undefined && { data: { claim: caller.claim } }),
  }
}

/** What went wrong, for the caller. A bug is logged with its stack and answered without it. */
function explain(error: unknown, call: Call, log: Log): Refusal {
  if (call.signal.aborted) return { code: 'cancelled', message: 'The call was cancelled.' }
  if (error instanceof CoworkError) {
    const { code, message, hint, details } = error
    return { code, message, ...(hint && { hint }), details }
  }
  log.error('a call failed unexpectedly', {
    call: call.id,
    error: error instanceof Error ? error.stack : String(error),
  })
  return {
    code: 'internal',
    message:
      'The call failed because of a fault in cowork; nothing it changed in the store was kept.',
    hint: `The log names the cause under call ${call.id}.`,
  }
}
