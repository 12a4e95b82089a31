import * as z from 'zod'
import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import { systemActor } from '#base/entry.ts'
import type { Log } from '#base/log.ts'
import type {
  ChannelOfType,
  DecideAs,
  Describe,
  Driver,
  Message,
  ApprovalNotification,
  SendOutcome,
  Sleep,
} from '../model.ts'
import { isApprovalNotification } from '../model.ts'
import { listNotifications, formatNotification } from '../notification-text.ts'
import { createApi } from './api.ts'
import type { TelegramResult } from './api.ts'
import { createChats } from './chats.ts'
import { createChatStore } from './store.ts'
import { formatMessage, formatText } from './text.ts'
import { createUpdatePoller } from './updates.ts'

export type TelegramDeps = {
  readonly db: Db
  readonly describe: Describe
  readonly decide: DecideAs
  readonly now: Clock
  readonly sleep: Sleep
  readonly log: Log
}

/** Well below the lease of a delivery. */
const maxSendMs = 40_000

const sent = z.object({ message_id: z.number().int() })

export type TelegramBot = ReturnType<typeof createTelegram>

/**
 * Creates a bot that notifies people in their linked chats and accepts their low-risk decisions
 * (A5).
 */
export function createTelegram(channel: ChannelOfType<'telegram'>, deps: TelegramDeps) {
  const { id } = channel
  const { db, describe, now } = deps
  const api = createApi(channel, deps.sleep)
  const store = createChatStore(db.dialect)
  const chats = createChats(id, store, now)

  async function sendToChats(message: Message, signal: AbortSignal): Promise<SendOutcome> {
    const notices = listNotifications(message)
    const [first] = notices
    const question = notices.length === 1 && isApprovalNotification(first) ? first : undefined
    const ids = [message, ...(message.more ?? [])].map((one) => one.id)
    const sentMessages = await store.listSent(db, ids)
    const unsent = (chat: string) =>
      ids.filter((one) => !sentMessages.some((had) => had.delivery === one && had.chat === chat))
    const content = formatMessage(message)
    let reached = 0
    for (const bound of await store.listChats(db, id)) {
      const { chat } = bound
      const remaining = unsent(chat)
      if (remaining.length > 0) {
        if (now() - message.at > maxSendMs)
          return { kind: 'failed', error: 'Telegram is slow; remaining chats follow' }
        const result = await api.call('sendMessage', { chat_id: Number(chat), ...content }, signal)
        if (isUnreachable(result)) {
          await db.transact((tx) =>
            chats.unbind(tx, bound, systemActor, 'the bot cannot write to this chat'),
          )
          continue
        }
        // An error for one chat usually affects all, so sending stops. The retry skips chats that
        // have the message.
        if (!result.ok) return result.failure
        const { data } = sent.safeParse(result.result)
        if (data && first?.type !== 'channel.test')
          await db.transact((tx) =>
            store.addMessages(
              tx,
              remaining.map((delivery) => ({
                delivery,
                chat,
                channel: id,
                message: data.message_id,
                approval: question?.data.approval_id ?? null,
                sentAt: now(),
              })),
            ),
          )
      }
      reached++
    }
    if (reached === 0) return { kind: 'failed', error: 'no linked chat (use cowork_bind_chat)' }
    if (question) await markDecided(question, signal)
    return { kind: 'sent' }
  }

  /**
   * Handles a decision that was made while the message was being sent, before the message was
   * stored.
   */
  async function markDecided(notice: ApprovalNotification, signal: AbortSignal) {
    const { approval_id: approval } = notice.data
    const about = (await describe(db, [approval])).get(approval)
    if (!about || about.status === 'pending') return
    const { status, decidedBy } = about
    const decided = { ...notice.data, status, ...(decidedBy && { decided_by: decidedBy }) }
    await editMessages({ ...notice, type: 'approval.decided', data: decided }, signal)
  }

  /** Shows the outcome in each message about an approval and removes its buttons. */
  async function editMessages(
    notice: ApprovalNotification,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const content = formatText(
      formatNotification({ id: '', at: 0, notice: JSON.stringify(notice) }),
    )
    for (const open of await store.listMessages(db, id, notice.data.approval_id)) {
      const which = { chat_id: Number(open.chat), message_id: open.message }
      const result = await api.call('editMessageText', { ...which, ...content }, signal)
      // The message was deleted or already shows the outcome.
      const isDone = result.ok || result.code === 400 || result.code === 403
      if (!isDone) return result.failure
      await db.transact((tx) => store.deleteMessage(tx, open))
    }
    return { kind: 'sent' }
  }

  const driver: Driver = {
    audience: 'person',
    edits: true,
    send(message, signal) {
      const [first] = listNotifications(message)
      return first?.type === 'approval.decided'
        ? editMessages(first, signal)
        : sendToChats(message, signal)
    },
  }

  return {
    id,
    driver,
    createCode: chats.createCode,
    listen: createUpdatePoller({ ...deps, channel: id, api, store, chats }),
  }
}

const isUnreachable = (result: TelegramResult): boolean =>
  !result.ok &&
  (result.code === 403 ||
    (result.code === 400 && /chat not found|user is deactivated/i.test(result.description)))
