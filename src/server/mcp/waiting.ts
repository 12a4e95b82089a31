import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import type { Approval, Approvals } from '#approvals'
import { rfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Caller } from '#base/caller.ts'
import { messageOf } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import type { Answer, CallRequest, Catalogue, Dispatch } from '#dispatch'
import { contentOf, toFault, toResult } from './answer.ts'
import type { Fault } from './answer.ts'
import { takesTasks, takesUrls } from './exchange.ts'
import { taskResult } from './tasks.ts'
import type { TaskRecord, TaskSource } from './tasks.ts'

type Deps = {
  readonly approvals: Pick<Approvals, 'get' | 'decided' | 'reviewUrl'>
  readonly catalogue: Catalogue
  readonly dispatch: Dispatch
  readonly now: Clock
  readonly log: Log
}

type Waiting = Extract<Answer, { status: 'waiting' }>
type Kept = { readonly status: string; readonly output?: unknown; readonly mcp?: unknown }

const question = 'cowork_approval'
/** Clients give up after a minute; most of it belongs to the person. */
const patience = 25_000
const pollEvery = 500
/** A call that was started and left no result by then left none. */
const longestRun = 60 * 60 * 1000
const longestWait = 2 ** 31 - 1

/**
 * How a call that waits for a person is answered: as a task where the client takes them, by showing it the
 * address where that is possible, else by a reply that says where and how to ask. All of them lead to the
 * same record, and nothing a client answers decides anything (A5).
 */
export function createWaiting({ approvals, catalogue, dispatch, now, log }: Deps) {
  const end = new AbortController()
  const running = new Map<string, Promise<void>>()

  async function answer(
    server: Server,
    context: ServerContext,
    request: CallRequest,
    waiting: Waiting,
  ): Promise<CallToolResult> {
    const { tool, approval } = waiting
    if (takesTasks(context)) {
      follow(approval.id, request)
      return taskResult(recordOf(approval)).result as CallToolResult
    }
    if (!takesUrls(server, context)) return toFault(server, tool, waiting)
    const response = inputResponse(context.mcpReq.inputResponses, question)
    if (response.kind === 'missing')
      return inputRequired({
        inputRequests: {
          [question]: inputRequired.elicitUrl({
            message: `A person decides whether ${approval.requester} may call ${tool.name}. Open the inbox to look at it.`,
            url: approvals.reviewUrl(approval.id),
          }),
        },
      }) as unknown as CallToolResult
    if (response.kind !== 'elicit' || response.action !== 'accept')
      return toFault(server, tool, waiting)
    const signal = AbortSignal.any([end.signal, request.signal ?? end.signal])
    const decided = await approvals.decided(approval.id, patience, signal)
    if (decided?.status === 'pending') return toFault(server, tool, waiting)
    const settled = await dispatch(requestFor(decided, request))
    return settled.status === 'waiting'
      ? toFault(server, tool, settled)
      : toResult(server, tool, settled)
  }

  /** What was approved is what runs, also where a person changed it (B3). */
  const requestFor = (decided: Approval | undefined, request: CallRequest): CallRequest =>
    decided?.approved === undefined ? request : { ...request, arguments: decided.approved }

  /** Runs the call as soon as it may. The claim is the store's, so that whoever else follows it does not. */
  function follow(id: string, request: CallRequest): void {
    if (running.has(id) || end.signal.aborted) return
    const { signal: _, progress: __, exchange: ___, ...call } = request
    const run = async () => {
      const decided = await approvals.decided(id, longestWait, end.signal)
      if (decided?.status === 'approved') await dispatch(requestFor(decided, call))
    }
    const settled = run()
      .catch((error: unknown) =>
        log.error('an approved call could not be started', { error: messageOf(error) }),
      )
      .finally(() => running.delete(id))
    running.set(id, settled)
  }

  async function ownCall(id: string, caller: Caller): Promise<Approval | undefined> {
    const approval = await approvals.get(id)
    return approval?.kind === 'call' && approval.requester === caller.id ? approval : undefined
  }

  const tasks: TaskSource = {
    async get(id, caller) {
      const approval = await ownCall(id, caller)
      if (!approval) return undefined
      // After a restart nobody follows it any more: whoever asks does.
      if (approval.status === 'approved' || approval.status === 'pending')
        follow(id, { tool: approval.action, arguments: approval.content.change, caller })
      return recordOf(approval)
    },
    // It asks the client nothing.
    update: async (id, _, caller) => (await ownCall(id, caller)) !== undefined,
    async cancel(id, caller) {
      if (!(await ownCall(id, caller))) return false
      await dispatch({ tool: 'cowork_withdraw', arguments: { approval_id: id }, caller })
      return true
    },
  }

  function recordOf(approval: Approval): TaskRecord {
    const { id, status, createdAt, decidedAt, action, decidedBy, reason } = approval
    const said = (fault: Fault) => ({ status: 'completed' as const, result: faultOf(fault) })
    const base = {
      taskId: id,
      createdAt: rfc3339(createdAt),
      lastUpdatedAt: rfc3339(decidedAt ?? createdAt),
      ttlMs: null,
      pollIntervalMs: pollEvery,
    }
    const url = approvals.reviewUrl(id)
    switch (status) {
      case 'pending':
        return { ...base, status: 'working', statusMessage: `Waits for a person: ${url}` }
      case 'approved':
        return { ...base, status: 'working', statusMessage: 'Approved; it starts.' }
      case 'consumed':
        return { ...base, ...ended(approval) }
      case 'rejected': {
        const message = `${decidedBy ?? 'A person'} denied ${action}${reason ? `: ${reason}` : '.'}`
        return { ...base, ...said({ code: 'approval_denied', message }) }
      }
      case 'expired':
        return {
          ...base,
          ...said({ code: 'approval_expired', message: 'Nobody decided in time.' }),
        }
      case 'withdrawn':
        return { ...base, status: 'cancelled' }
    }
  }

  function ended({
    result,
    decidedAt,
    action,
  }: Approval): Pick<TaskRecord, 'status' | 'result' | 'error'> {
    if (result === undefined)
      return (decidedAt ?? 0) > now() - longestRun
        ? { status: 'working' }
        : { status: 'failed', error: { code: -32603, message: 'Its result is not kept.' } }
    const kept = result as Kept & Fault
    if (kept.status !== 'done') return { status: 'completed', result: faultOf(kept) }
    if (kept.mcp !== undefined)
      return { status: 'completed', result: kept.mcp as Record<string, unknown> }
    const tool = catalogue.find(action)
    return { status: 'completed', result: tool ? contentOf(tool, kept.output) : {} }
  }

  return {
    answer,
    tasks,
    async close() {
      end.abort()
      await Promise.all(running.values())
    },
  }
}

const faultOf = (fault: Fault) => ({
  isError: true,
  content: [{ type: 'text', text: fault.message }],
  structuredContent: { code: fault.code, message: fault.message },
})
