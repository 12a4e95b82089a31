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
  /** How long a call stays open: for the client's response, and then for the decision. */
  readonly waitMs?: number
}
type Waiting = Extract<CallResult, { status: 'waiting' }>
type UrlPrompt = { readonly message: string; readonly url: string }

const elicitationKey = 'cowork_approval'
/** Clients time out after a minute; a call waits at most twice this time. */
const defaultWaitMs = 25_000
/** The maximum timer, longer than any request stays pending. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Answers pending calls: as a task if the client supports tasks, by showing the review URL if
 * possible, otherwise with a reply that explains how to check. All variants use the same approval,
 * and no client response decides anything (A5). The runner executes approved calls; a call only
 * waits here (A15).
 */
export function createPendingReply(deps: Deps) {
  const { approvals, dispatch, log, waitMs = defaultWaitMs } = deps
  const closing = new AbortController()
  /** The pending requests with a task. */
  const watchedTasks = new Set<string>()

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
      message: `Approval needed: ${approval.requester} calls ${tool.name}. Open the inbox to decide.`,
      url,
    }
    const isPending = approval.status === 'pending'
    const response = inputResponse(context.mcpReq.inputResponses, elicitationKey)
    if (isPending && isCurrentProtocol(server) && response.kind === 'missing')
      return inputRequired({
        inputRequests: { [elicitationKey]: inputRequired.elicitUrl(asked) },
      }) as unknown as CallToolResult
    if (isPending) request.progress?.(0, undefined, `Waiting for a person: ${url}`)
    const signal = AbortSignal.any([closing.signal, request.signal ?? closing.signal])
    const wait = (until: AbortSignal) => approvals.waitUntilFinished(id, waitMs, until)
    const isAccepted = response.kind === 'elicit' && response.action === 'accept'
    const isAsked = isPending && !isCurrentProtocol(server)
    let latest: Approval | undefined
    try {
      if (isAsked) latest = await promptAndWait(server, context, asked, wait, signal)
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

  /** Waits for the request of a task until it ends, because the client polls only occasionally. */
  function waitForTask(id: string): void {
    if (watchedTasks.has(id)) return
    watchedTasks.add(id)
    approvals
      .waitUntilFinished(id, maxTimerMs, closing.signal)
      .catch((error: unknown) => log.warn('task wait failed', { error: errorMessage(error) }))
      .finally(() => watchedTasks.delete(id))
  }

  /** Withdraws the request of a cancelled call, unless another call waits for it (RA12). */
  async function cancel(id: string, { caller }: CallRequest): Promise<void> {
    if (closing.signal.aborted || approvals.isAwaited(id)) return
    await approvals
      .cancel(id, caller)
      .catch((error: unknown) =>
        log.warn('withdrawal of a cancelled request failed', { error: errorMessage(error) }),
      )
  }

  /**
   * Prompts a legacy client within the call. A decision made elsewhere ends the prompt; if the
   * client cannot show it or declines, it gets the pending reply.
   */
  async function promptAndWait(
    server: Server,
    { mcpReq: { id: relatedRequestId } }: ServerContext,
    asked: UrlPrompt,
    wait: (until: AbortSignal) => Promise<Approval | undefined>,
    signal: AbortSignal,
  ): Promise<Approval | undefined> {
    const over = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    const elicitationId = newId()
    const accepted = server
      .request(
        { method: 'elicitation/create', params: { mode: 'url', elicitationId, ...asked } },
        { relatedRequestId, timeout: waitMs, signal: until },
      )
      .then(
        ({ action }) => action === 'accept',
        () => false,
      )
    try {
      const first = await Promise.race([accepted, wait(until)])
      const decided = first === true ? await wait(until) : first
      if (!decided || decided.status === 'pending') return undefined
      // Optional: lets the client close its prompt.
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

  /**
   * With authentication off, callers cannot be distinguished and tasks/get names no agent, so the
   * id is sufficient.
   */
  async function findOwnCall(id: string, caller: Caller): Promise<Approval | undefined> {
    const approval = await approvals.get(id)
    if (approval?.kind !== 'call') return undefined
    const { requester, createdAt } = approval
    return isOwnRecord(caller, requester, createdAt) || !caller.verified ? approval : undefined
  }

  const tasks: TaskSource = {
    async get(id, caller, structured) {
      const approval = await findOwnCall(id, caller)
      if (!approval) return undefined
      if (approval.result !== undefined) approvals.noteDelivered(id)
      return toTask(deps, approval, structured)
    },
    // This task never requests input.
    update: async (id, _, caller) => (await findOwnCall(id, caller)) !== undefined,
    async cancel(id, caller) {
      const approval = await findOwnCall(id, caller)
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
      closing.abort()
      // A pending call has no work to finish on shutdown.
      approvals.stopWaiting()
    },
  }
}

/**
 * True if the client cancelled the call. With the current protocol, closing the stream of an HTTP
 * request cancels it; the end of a connection or session does not.
 */
function isCancelled(server: Server, { mcpReq: { signal }, http }: ServerContext): boolean {
  if (!signal.aborted) return false
  const isClosed = signal.reason instanceof Error && signal.reason.message === 'Connection closed'
  return !isClosed || (http !== undefined && isCurrentProtocol(server))
}
