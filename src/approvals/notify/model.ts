import type { Config } from '#base/config/index.ts'
import type { Reader } from '#base/db/port.ts'

export type Channel = Config['notify']['channels'][number]
export type WebhookChannel = Extract<Channel, { type: 'webhook' }>
export type NotifyRule = Config['notify']['rules'][number]

/** What the record of an approval says that people are told. */
export type Described = {
  readonly kind: string
  readonly requester: string
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly summary: string
  readonly mode: string
  readonly risk: string
  readonly status: string
  readonly decidedBy?: string | undefined
}
export type Describe = (reader: Reader, ids: string[]) => Promise<Map<string, Described>>

export type NoticeType = 'approval.requested' | 'approval.decided'

/** What leaves the house, the same for every channel: a webhook posts it, others word it. */
export type Notice = {
  readonly type: NoticeType
  /** When it happened, not when it is told. */
  readonly timestamp: string
  readonly data: {
    readonly approval_id: string
    readonly kind: string
    readonly agent: string
    readonly domain: string
    readonly action: string
    readonly target: string
    readonly summary: string
    readonly mode: string
    readonly risk: string
    readonly status: string
    readonly decided_by?: string
    readonly review_url: string
  }
}

export const deliveryStatuses = ['pending', 'sent', 'dead'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One notice on its way to one channel. */
export type Delivery = {
  readonly id: string
  readonly channel: string
  readonly event: string
  readonly approval: string
  /** The notice as JSON: what is sent again is the same to the letter. */
  readonly notice: string
  readonly status: DeliveryStatus
  /** How often it was taken to be sent. Also tells two senders of one delivery apart. */
  readonly attempts: number
  /** When it is due; while it is being sent, until when nobody else may take it. */
  readonly nextAt: number
  readonly lastError: string | null
  readonly createdAt: number
  readonly settledAt: number | null
}

/** How one try ended. Errors are words of ours: those of the network may hold an address. */
export type Outcome =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed'
      readonly error: string
      /** The receiver wants no more. */
      readonly isFinal?: true
      /** How long the receiver asks us to wait. */
      readonly waitMs?: number
    }
  /** We are ending; it was not the receiver's fault. */
  | { readonly kind: 'interrupted' }

export type Message = { readonly id: string; readonly notice: string; readonly at: number }

/** How a channel is told. Kinds of channels differ in this alone. */
export type Send = (message: Message, signal: AbortSignal) => Promise<Outcome>

/** Resolves after so long, or when the signal is aborted; it never throws. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>
