import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import type { Approval, Approvals } from '#approvals'
import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { errorMessage } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import { toSettled } from '#dispatch'
import type { CallResult, CallRequest, ToolRegistry, Dispatch } from '#dispatch'
import { isCurrentProtocol, toErrorResult, toResult } from './results.ts'
import { toTask } from './approval-task.ts'
import { withEditNotice } from './earlier-run.ts'
import { supportsTasks, supportsUrlElicitation } from './mcp-context.ts'
import { taskResult } from './tasks.ts'
import type { TaskSource } from './tasks.ts'

type Deps = {
  readonly approvals: Pick<
    Approvals,
    | 'get'
    | 'waitUntilFinished'
    | 'isAwaited'
    | 'stopWaiting'
    | 'isClaimable'
    | 'isRunning'
    | 'noteDelivered'
    | 'cancel'
    | 'reviewUrl'
  >
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  readonly log: Log
  /** How long a call is held open: for the client's answer, and then for the person's. */
  readonly patienceMs?: number
}
type Waiting = Extract<CallResult, { status: 'waiting' }>
type Question = { readonly message: string; readonly url: string }

const question = 'cowork_approval'
/** Clients give up after a minute; twice this is what they wait at most. */
const defaultPatience = 25_000
/** Longer than a request waits for a person. */
const longestTimerMs = 2 ** 31 - 1

/**
 * How a call that waits for a person is answered: as a task where the client takes them, by showing it the
 * address where that is possible, else by a reply that says where and how to ask. All of them lead to the
 * same record, and nothing a client answers decides anything (A5). The runner runs what is approved; here a call
 * only waits for that (A15).
 */
export function createPendingReply(deps: Deps) {
  const { approvals, dispatch, log, patienceMs = defaultPatience } = deps
  const end = new AbortController()
  /** The requests that have a task and have not ended. */
  const tasksFor = new Set<string>()

  async function answer(
    server: Server,
    context: ServerContext,
    request: CallRequest,
    waiting: Waiting,
    structured: boolean,
  ): Promise<CallToolResult> {
    const { tool, approval } = waiting
    const { id } = approval
    if (supportsTasks(context)) {
      waitForTask(id)
      return taskResult(toTask(deps, approval)).result as CallToolResult
    }
    const pending = toErrorResult(waiting)
    if (!supportsUrlElicitation(server, context)) return pending
    const url = approvals.reviewUrl(id)
    const asked = {
      message: `A person decides whether ${approval.requester} may call ${tool.name}. Open the inbox to look at it.`,
      url,
    }
    const isPending = approval.status === 'pending'
    const response = inputResponse(context.mcpReq.inputResponses, question)
    if (isPending && isCurrentProtocol(server) && response.kind === 'missing')
      return inputRequired({
        inputRequests: { [question]: inputRequired.elicitUrl(asked) },
      }) as unknown as CallToolResult
    if (isPending) request.progress?.(0, undefined, `Waits for a person: ${url}`)
    const signal = AbortSignal.any([end.signal, request.signal ?? end.signal])
    const wait = (until: AbortSignal) => approvals.waitUntilFinished(id, patienceMs, until)
    const isAccepted = response.kind === 'elicit' && response.action === 'accept'
    const isAsked = isPending && !isCurrentProtocol(server)
    let latest: Approval | undefined
    try {
      if (isAsked) latest = await askWhile(server, context, asked, wait, signal)
      else if (!isPending || isAccepted) latest = await wait(signal)
    } finally {
      if (isCancelled(server, context)) await cancel(id, request)
    }
    if (!latest || latest.status === 'pending') return pending
    const settled = toSettled(latest, tool, approvals)
    if (settled.status === 'waiting') return toErrorResult(settled)
    approvals.noteDelivered(id)
    const { call } = waiting
    if (settled.status !== 'done') return toResult(server, { ...settled, call }, structured)
    const { earlier, ...done } = settled
    return withEditNotice(toResult(server, { ...done, call }, structured), earlier)
  }

  /** A task waits for its request until that ends, though the client asks for the task only now and then. */
  function waitForTask(id: string): void {
    if (tasksFor.has(id)) return
    tasksFor.add(id)
    approvals
      .waitUntilFinished(id, longestTimerMs, end.signal)
      .catch((error: unknown) =>
        log.warn('the wait of a task ended early', { error: errorMessage(error) }),
      )
      .finally(() => tasksFor.delete(id))
  }

  /** Withdraws what the cancelled call asked for, unless another call waits for it (RA12). */
  async function cancel(id: string, { caller }: CallRequest): Promise<void> {
    if (end.signal.aborted || approvals.isAwaited(id)) return
    await approvals
      .cancel(id, caller)
      .catch((error: unknown) =>
        log.warn('a cancelled request could not be withdrawn', { error: errorMessage(error) }),
      )
  }

  /**
   * The older era asks within the call. Whoever decides meanwhile, elsewhere, ends the question; a client
   * that cannot be asked after all, or says no, gets the pending reply.
   */
  async function askWhile(
    server: Server,
    { mcpReq: { id: relatedRequestId } }: ServerContext,
    asked: Question,
    wait: (until: AbortSignal) => Promise<Approval | undefined>,
    signal: AbortSignal,
  ): Promise<Approval | undefined> {
    const over = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    const elicitationId = newId()
    const accepted = server
      .request(
        { method: 'elicitation/create', params: { mode: 'url', elicitationId, ...asked } },
        { relatedRequestId, timeout: patienceMs, signal: until },
      )
      .then(
        ({ action }) => action === 'accept',
        () => false,
      )
    try {
      const first = await Promise.race([accepted, wait(until)])
      const decided = first === true ? await wait(until) : first
      if (!decided || decided.status === 'pending') return undefined
      // Only a courtesy: the client may close what it shows.
      const params = { elicitationId }
      server
        .notification(
          { method: 'notifications/elicitation/complete', params },
          { relatedRequestId },
        )
        .catch(() => undefined)
      return decided
    } finally {
      over.abort()
    }
  }

  /** In open mode nobody can be told apart, and tasks/get names no agent: there the id is what counts. */
  async function ownCall(id: string, caller: Caller): Promise<Approval | undefined> {
    const approval = await approvals.get(id)
    if (approval?.kind !== 'call') return undefined
    const { requester, createdAt } = approval
    return isOwnRecord(caller, requester, createdAt) || !caller.verified ? approval : undefined
  }

  const tasks: TaskSource = {
    async get(id, caller, structured) {
      const approval = await ownCall(id, caller)
      if (!approval) return undefined
      if (approval.result !== undefined) approvals.noteDelivered(id)
      return toTask(deps, approval, structured)
    },
    // It asks the client nothing.
    update: async (id, _, caller) => (await ownCall(id, caller)) !== undefined,
    async cancel(id, caller) {
      const approval = await ownCall(id, caller)
      if (!approval) return false
      await dispatch({
        tool: 'cowork_withdraw',
        arguments: { approval_id: id },
        caller: { ...caller, id: approval.requester },
      })
      return true
    },
  }

  return {
    answer,
    tasks,
    close(): void {
      end.abort()
      // A call that waits for a person is no work to finish.
      approvals.stopWaiting()
    },
  }
}

/**
 * Whether the client took the call back. In the newer era closing the stream of an HTTP request says so; a connection
 * or a session that ends does not.
 */
function isCancelled(server: Server, { mcpReq: { signal }, http }: ServerContext): boolean {
  if (!signal.aborted) return false
  const isClosed = signal.reason instanceof Error && signal.reason.message === 'Connection closed'
  return !isClosed || (http !== undefined && isCurrentProtocol(server))
}
