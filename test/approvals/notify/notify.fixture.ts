import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'
import { systemActor } from '#base/entry.ts'
import type { EntryDraft } from '#base/entry.ts'
import type {
  Delivery,
  ApprovalSummary,
  ApprovalNotification,
  NotificationType,
  Sleep,
  WebhookChannel,
} from '../../../src/approvals/notify/model.ts'
import { buildNotification } from '../../../src/approvals/notify/rules.ts'

/** A test clock that stands still until it is moved; wakes sleepers that are due. */
export function createTime(start = Date.now()) {
  let at = start
  const waiting = new Set<{
    readonly ms: number
    readonly due: number
    readonly wake: () => void
  }>()
  const wait: Sleep = (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const one = { ms, due: at + ms, wake: resolve }
      waiting.add(one)
      signal.addEventListener('abort', () => {
        waiting.delete(one)
        resolve()
      })
    })
  return {
    now: () => at,
    wait,
    /** Counts the sleepers that started at this moment with this delay. */
    waiters: (ms: number) =>
      [...waiting].filter((one) => one.ms === ms && one.due === at + ms).length,
    move(ms: number) {
      at += ms
      for (const one of waiting)
        if (one.due <= at) {
          waiting.delete(one)
          one.wake()
        }
    },
  }
}

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

type Got = {
  readonly id: string
  readonly body: string
  readonly headers: IncomingHttpHeaders
  /** Verifies the body with the official library. */
  verify(): ApprovalNotification
}
type Answer = (response: ServerResponse, nth: number, request: IncomingMessage) => void

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end()
export const hang: Answer = () => undefined
export const says =
  (code: number, body: string): Answer =>
  (response) =>
    void response.writeHead(code).end(body)
/** Sends an endless response. */
export const flood: Answer = (response) => {
  response.writeHead(200)
  const more = setInterval(() => response.write('and on '.repeat(1000)), 1)
  response.on('close', () => clearInterval(more))
}

/** Starts a local HTTP receiver; its response can be changed. */
export async function startReceiver(first: Answer = status(204)) {
  let answer = first
  const got: Got[] = []
  const server = createServer((request, response) => {
    const take = (body: string) => {
      const headers = request.headers as Record<string, string>
      const verify = () => new Webhook(secret).verify(body, headers) as ApprovalNotification
      got.push({ id: headers['webhook-id'] ?? '', body, headers: request.headers, verify })
      answer(response, got.length, request)
    }
    // A sender may disconnect during its request.
    text(request).then(take, () => undefined)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  const channel = (id: string, more: Partial<WebhookChannel> = {}): WebhookChannel => ({
    type: 'webhook',
    id,
    url,
    secret,
    ...more,
  })
  return { got, url, channel, answer: (next: Answer) => (answer = next) }
}

/** The summary of a pending proposal. */
export const described = (more: Partial<ApprovalSummary> = {}): ApprovalSummary => ({
  kind: 'proposal',
  requester: 'sales',
  domain: 'crm',
  action: 'update_deal',
  target: 'deal-7',
  summary: 'Set the stage of deal-7 to won',
  mode: 'suggest',
  risk: 'normal',
  status: 'pending',
  ...more,
})

/** The notification of that proposal as JSON. */
export const noticed = (
  more: Partial<ApprovalSummary> = {},
  type: NotificationType = 'approval.requested',
  at = 0,
) =>
  JSON.stringify(
    buildNotification(
      { type, status: more.status ?? 'pending' },
      { at },
      'p1',
      described(more),
      'http://localhost:8765',
    ),
  )

export const asked = (approval: string, more: Partial<EntryDraft> = {}): EntryDraft => ({
  type: 'proposal.created',
  actor: { kind: 'agent', id: 'sales' },
  domain: 'crm',
  subject: 'deal-7',
  outcome: 'suggest',
  ids: { approval, proposal: approval },
  data: { kind: 'proposal', action: 'update_deal' },
  ...more,
})

export const decided = (approval: string, type = 'approval.approved'): EntryDraft => ({
  type,
  actor: { kind: 'human', id: 'anna' },
  ids: { approval },
  data: { kind: 'proposal', requester: 'sales', decided_by: 'anna' },
})

/** The entry of a look-back on ten autonomous actions. */
export const lookedBack = (): EntryDraft => ({
  type: 'look_back.opened',
  actor: systemActor,
  domain: 'crm',
  subject: 'sales',
  data: { look_back: 'l1', risk: 'normal', count: 10 },
})

export const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  id: 'd1',
  channel: 'ops',
  event: 'approval.requested',
  approval: 'p1',
  notice: '{}',
  status: 'pending',
  attempts: 0,
  nextAt: 0,
  held: null,
  lastError: null,
  createdAt: 0,
  settledAt: null,
  ...more,
})
