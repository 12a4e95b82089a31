import { setTimeout } from 'node:timers/promises'
import { inputRequired, inputResponse } from '@modelcontextprotocol/server'
import type { CallToolResult, Server, ServerContext } from '@modelcontextprotocol/server'
import type { Approval, Approvals } from '#approvals'
import { isOwn } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import { CoworkError, messageOf } from '#base/errors.ts'
import { newId } from '#base/ids.ts'
import type { Log } from '#base/log.ts'
import type { Answer, CallRequest, Catalogue, Dispatch } from '#dispatch'
import { isModern, toFault, toResult, withEdit } from './answer.ts'
import { taskOf } from './approval-task.ts'
import { takesTasks, takesUrls } from './exchange.ts'
import { taskResult } from './tasks.ts'
import type { TaskSource } from './tasks.ts'

type Deps = {
  readonly approvals: Pick<
    Approvals,
    'get' | 'decided' | 'endWaits' | 'isLive' | 'actOf' | 'reviewUrl'
  >
  readonly catalogue: Catalogue
  readonly dispatch: Dispatch
  readonly now: Clock
  readonly log: Log
  /** How long a call is held open: for the client's answer, and then for the person's. */
  readonly patienceMs?: number
}
type Waiting = Extract<Answer, { status: 'waiting' }>
type Question = { readonly message: string; readonly url: string }

const question = 'cowork_approval'
/** Clients give up after a minute; twice this is what they wait at most. */
const defaultPatience = 25_000
const longestWait = 2 ** 31 - 1
const retryAfter = 5000

/**
 * How a call that waits for a person is answered: as a task where the client takes them, by showing it the
 * address where that is possible, else by a reply that says where and how to ask. All of them lead to the
 * same record, and nothing a client answers decides anything (A5).
 */
export function createWaiting(deps: Deps) {
  const { approvals, dispatch, log, patienceMs = defaultPatience } = deps
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
      return taskResult(taskOf(deps, approval)).result as CallToolResult
    }
    const pending = toFault(server, tool, waiting)
    if (!takesUrls(server, context)) return pending
    const url = approvals.reviewUrl(approval.id)
    const asked = {
      message: `A person decides whether ${approval.requester} may call ${tool.name}. Open the inbox to look at it.`,
      url,
    }
    const response = inputResponse(context.mcpReq.inputResponses, question)
    if (isModern(server) && response.kind === 'missing')
      return inputRequired({
        inputRequests: { [question]: inputRequired.elicitUrl(asked) },
      }) as unknown as CallToolResult
    request.progress?.(0, undefined, `Waits for a person: ${url}`)
    const signal = AbortSignal.any([end.signal, request.signal ?? end.signal])
    const wait = (until: AbortSignal) => approvals.decided(approval.id, patienceMs, until)
    const isAccepted = response.kind === 'elicit' && response.action === 'accept'
    const decided = isModern(server)
      ? isAccepted && (await wait(signal))
      : await askWhile(server, context, asked, wait, signal)
    if (!decided || decided.status === 'pending') return pending
    const settled = await release(decided, request).catch((error: unknown) => {
      if (error instanceof CoworkError) return error
      throw error
    })
    if (settled instanceof CoworkError) return toFault(server, tool, settled)
    if (settled.status === 'done') return withEdit(toResult(server, tool, settled), decided)
    return settled.status === 'waiting' ? pending : toResult(server, tool, settled)
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

  /** Goes on with what was approved, also where a person changed it (B3). The claim is the store's. */
  const release = async (decided: Approval, request: CallRequest): Promise<Answer> =>
    dispatch({
      ...request,
      approval: decided.id,
      ...(approvals.isLive(decided) && { arguments: approvals.actOf(decided).change }),
    })

  /** Runs the call as soon as it may. */
  function follow(id: string, request: CallRequest): void {
    if (running.has(id) || end.signal.aborted) return
    const { signal: _, progress: __, exchange: ___, ...call } = request
    const run = async () => {
      const decided = await approvals.decided(id, longestWait, end.signal)
      if (!decided || !approvals.isLive(decided)) return
      const { status } = await release(decided, call)
      // Halted, perhaps. Whoever asks for the task makes it try again, though not with every look.
      if (status === 'refused') await pause(retryAfter, end.signal)
    }
    const settled = run()
      .catch((error: unknown) =>
        log.error('an approved call could not be started', { error: messageOf(error) }),
      )
      .finally(() => running.delete(id))
    running.set(id, settled)
  }

  /** In open mode nobody can be told apart, and tasks/get names no agent: there the id is what counts. */
  async function ownCall(id: string, caller: Caller): Promise<Approval | undefined> {
    const approval = await approvals.get(id)
    if (approval?.kind !== 'call') return undefined
    const { requester, createdAt } = approval
    return isOwn(caller, requester, createdAt) || !caller.verified ? approval : undefined
  }

  const tasks: TaskSource = {
    async get(id, caller) {
      const approval = await ownCall(id, caller)
      if (!approval) return undefined
      // After a restart nobody follows it any more: whoever asks does.
      if (approval.status === 'pending' || approvals.isLive(approval))
        follow(id, {
          tool: approval.action,
          // The approval keeps them.
          arguments: undefined,
          caller: { ...caller, id: approval.requester },
        })
      return taskOf(deps, approval)
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
    async close() {
      end.abort()
      // A call that waits for a person is no work to finish.
      approvals.endWaits()
      await Promise.all(running.values())
    },
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  setTimeout(ms, undefined, { ref: false, signal }).catch(() => undefined)
