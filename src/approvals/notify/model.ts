import type { Config } from '#base/config/index.ts'
import type { Reader } from '#base/db/port.ts'
import type { deliveryStatuses, delayReasons } from '../wire.ts'

export type Channel = Config['notify']['channels'][number]
export type ChannelOfType<T extends Channel['type']> = Extract<Channel, { type: T }>
export type WebhookChannel = ChannelOfType<'webhook'>
export type NotifyRule = Config['notify']['rules'][number]
export type QuietHours = NonNullable<Config['notify']['quiet_hours']>

/** The data of an approval that notifications may contain. */
export type ApprovalSummary = {
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
export type Describe = (reader: Reader, ids: string[]) => Promise<Map<string, ApprovalSummary>>

export type NotificationType = 'approval.requested' | 'approval.escalated' | 'approval.decided'

/** The payload of every channel: a webhook posts it, other channels format it as text. */
export type ApprovalNotification = {
  readonly type: NotificationType
  /** The time of the event, not of the notification. */
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

export type TestNotification = {
  readonly type: 'channel.test'
  readonly timestamp: string
  readonly data: {
    readonly channel: string
    readonly asked_by: string
    readonly review_url: string
  }
}

/** The latest checkpoint, for people who keep it as a witness of the ledger (L15). */
export type CheckpointNotification = {
  readonly type: 'ledger.checkpoint'
  readonly timestamp: string
  readonly data: {
    readonly size: number
    /** The complete signed note for `cowork audit verify --checkpoint`. */
    readonly checkpoint: string
    readonly risk: 'normal'
    readonly review_url: string
  }
}

/**
 * One message about all actions that need review after an autonomous action was marked as wrong
 * (T14).
 */
export type LookBackNotification = {
  readonly type: 'look_back.opened'
  readonly timestamp: string
  readonly data: {
    readonly look_back: string
    readonly agent: string
    readonly domain: string
    readonly risk: string
    readonly count: number
    readonly review_url: string
  }
}

export type AnyNotification =
  | ApprovalNotification
  | TestNotification
  | CheckpointNotification
  | LookBackNotification

export const isApprovalNotification = (
  notice: AnyNotification | undefined,
): notice is ApprovalNotification => notice !== undefined && notice.type.startsWith('approval.')

export type DeliveryStatus = (typeof deliveryStatuses)[number]
export type DelayReason = (typeof delayReasons)[number]

export type Delivery = {
  readonly id: string
  readonly channel: string
  readonly event: string
  readonly approval: string
  /** The notification as JSON, so a retry sends identical bytes. */
  readonly notice: string
  readonly status: DeliveryStatus
  /** The number of claims by senders; also the version for optimistic locking. */
  readonly attempts: number
  /** The due time, or the end of the sender's lease while it is being sent. */
  readonly nextAt: number
  readonly held: DelayReason | null
  readonly lastError: string | null
  readonly createdAt: number
  readonly settledAt: number | null
}

/** The outcome of one attempt. Errors are our own texts: those of the network may contain URLs. */
export type SendOutcome =
  /** `note` names the recipients that were not reached. */
  { readonly kind: 'sent'; readonly note?: string } | SendFailure
export type SendFailure =
  | {
      readonly kind: 'failed'
      readonly error: string
      readonly isFinal?: true
      readonly waitMs?: number
    }
  /** The daemon is stopping; the attempt does not count. */
  | { readonly kind: 'interrupted' }

type MessagePart = { readonly id: string; readonly notice: string }
/** `more` contains further notifications that are combined into this message for people. */
export type Message = MessagePart & { readonly at: number; readonly more?: readonly MessagePart[] }

type Send = (message: Message, signal: AbortSignal) => Promise<SendOutcome>

export type Driver = {
  readonly send: Send
  /**
   * A machine receives each notification separately, including decisions. A person receives
   * pending requests, combined if there are many.
   */
  readonly audience: 'machine' | 'person'
  readonly edits?: true
}

/** The client name of decisions made with a bot button. */
export const telegramClient = 'cowork-telegram'

export type DecideAs = (
  person: string,
  approval: string,
  verdict: 'approve' | 'reject',
) => Promise<{ readonly status: string } | { readonly refused: string }>

/** Resolves after `ms` or when the signal is aborted; never throws. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>
