import type { Config } from '#base/config/index.ts'
import type { Reader } from '#base/db/port.ts'
import type { deliveryStatuses, delayReasons } from '../wire.ts'

export type Channel = Config['notify']['channels'][number]
export type ChannelOfType<T extends Channel['type']> = Extract<Channel, { type: T }>
export type WebhookChannel = ChannelOfType<'webhook'>
export type NotifyRule = Config['notify']['rules'][number]
export type QuietHours = NonNullable<Config['notify']['quiet_hours']>

/** What the record of an approval says that people are told. */
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

/** What leaves the house, the same for every channel: a webhook posts it, others word it. */
export type ApprovalNotification = {
  readonly type: NotificationType
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

export type TestNotification = {
  readonly type: 'channel.test'
  readonly timestamp: string
  readonly data: {
    readonly channel: string
    readonly asked_by: string
    readonly review_url: string
  }
}

/** The newest checkpoint, for people who keep it as a witness of the ledger (L15). */
export type CheckpointNotice = {
  readonly type: 'ledger.checkpoint'
  readonly timestamp: string
  readonly data: {
    readonly size: number
    /** The whole note: `cowork audit verify --checkpoint` takes it. */
    readonly checkpoint: string
    readonly risk: 'normal'
    readonly review_url: string
  }
}

/** A mistake was found in what an agent did alone, and others come to the inbox: one message for all (T14). */
export type LookBackNotice = {
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

export type AnyNotice = ApprovalNotification | TestNotification | CheckpointNotice | LookBackNotice

export const isAboutApproval = (notice: AnyNotice | undefined): notice is ApprovalNotification =>
  notice !== undefined && notice.type.startsWith('approval.')

export type DeliveryStatus = (typeof deliveryStatuses)[number]
export type DelayReason = (typeof delayReasons)[number]

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
  readonly held: DelayReason | null
  readonly lastError: string | null
  readonly createdAt: number
  readonly settledAt: number | null
}

/** How one try ended. Errors are words of ours: those of the network may hold an address. */
export type SendOutcome =
  /** `note` says whom it did not reach all the same. */
  { readonly kind: 'sent'; readonly note?: string } | SendFailure
export type SendFailure =
  | {
      readonly kind: 'failed'
      readonly error: string
      readonly isFinal?: true
      readonly waitMs?: number
    }
  /** We are ending; it was not the receiver's fault. */
  | { readonly kind: 'interrupted' }

type Parcel = { readonly id: string; readonly notice: string }
/** `more` are notices that go with it, where people would else get many messages at once. */
export type Message = Parcel & { readonly at: number; readonly more?: readonly Parcel[] }

type Send = (message: Message, signal: AbortSignal) => Promise<SendOutcome>

export type Driver = {
  readonly send: Send
  /** A machine is told everything, each by itself. A person is told what waits, and many things at once. */
  readonly audience: 'machine' | 'person'
  readonly edits?: true
}

/** What decisions made by a button of a bot are told by. */
export const telegramClient = 'cowork-telegram'

export type DecideAs = (
  person: string,
  approval: string,
  verdict: 'approve' | 'reject',
) => Promise<{ readonly status: string } | { readonly refused: string }>

/** Resolves after so long, or when the signal is aborted; it never throws. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>
