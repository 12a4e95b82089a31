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
import { isAboutApproval } from '../model.ts'
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
  readonly wait: Sleep
  readonly log: Log
}

/** Well within the time for which a delivery is ours. */
const patience = 40_000

const sent = z.object({ message_id: z.number().int() })

export type TelegramBot = ReturnType<typeof createTelegram>

/** A bot that tells the people who bound a chat of theirs to it, and takes their word on low risk (A5). */
export function createTelegram(channel: ChannelOfType<'telegram'>, deps: TelegramDeps) {
  const { id } = channel
  const { db, describe, now } = deps
  const api = createApi(channel, deps.wait)
  const store = createChatStore(db.dialect)
  const chats = createChats(id, store, now)

  async function tell(message: Message, signal: AbortSignal): Promise<SendOutcome> {
    const notices = listNotifications(message)
    const [first] = notices
    const question = notices.length === 1 && isAboutApproval(first) ? first : undefined
    const ids = [message, ...(message.more ?? [])].map((one) => one.id)
    const told = await store.told(db, ids)
    const untold = (chat: string) =>
      ids.filter((one) => !told.some((had) => had.delivery === one && had.chat === chat))
    const content = formatMessage(message)
    let reached = 0
    for (const bound of await store.chats(db, id)) {
      const { chat } = bound
      const left = untold(chat)
      if (left.length > 0) {
        if (now() - message.at > patience)
          return { kind: 'failed', error: 'Telegram is slow; the rest is told later' }
        const said = await api.call('sendMessage', { chat_id: Number(chat), ...content }, signal)
        if (isGone(said)) {
          await db.transact((tx) => chats.unbind(tx, bound, systemActor, 'the chat is gone'))
          continue
        }
        // What does not work for one does not work for the next; who had it does not get it again.
        if (!said.ok) return said.unsent
        const { data } = sent.safeParse(said.result)
        if (data && first?.type !== 'channel.test')
          await db.transact((tx) =>
            store.addMessages(
              tx,
              left.map((delivery) => ({
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
    if (reached === 0)
      return { kind: 'failed', error: 'no chat is bound to it yet (cowork_bind_chat)' }
    if (question) await markDecided(question, signal)
    return { kind: 'sent' }
  }

  /** Decided while it was being told: whoever looked for messages then did not find this one. */
  async function markDecided(notice: ApprovalNotification, signal: AbortSignal) {
    const { approval_id: approval } = notice.data
    const about = (await describe(db, [approval])).get(approval)
    if (!about || about.status === 'pending') return
    const { status, decidedBy } = about
    const decided = { ...notice.data, status, ...(decidedBy && { decided_by: decidedBy }) }
    await mark({ ...notice, type: 'approval.decided', data: decided }, signal)
  }

  /** Says in each message about it how it ended, and takes the buttons away. */
  async function mark(notice: ApprovalNotification, signal: AbortSignal): Promise<SendOutcome> {
    const content = formatText(
      formatNotification({ id: '', at: 0, notice: JSON.stringify(notice) }),
    )
    for (const open of await store.open(db, id, notice.data.approval_id)) {
      const which = { chat_id: Number(open.chat), message_id: open.message }
      const said = await api.call('editMessageText', { ...which, ...content }, signal)
      // It was deleted, or says so already.
      const isSettled = said.ok || said.code === 400 || said.code === 403
      if (!isSettled) return said.unsent
      await db.transact((tx) => store.forgetMessage(tx, open))
    }
    return { kind: 'sent' }
  }

  const driver: Driver = {
    audience: 'person',
    edits: true,
    send(message, signal) {
      const [first] = listNotifications(message)
      return first?.type === 'approval.decided' ? mark(first, signal) : tell(message, signal)
    },
  }

  return {
    id,
    driver,
    makeCode: chats.makeCode,
    listen: createUpdatePoller({ ...deps, channel: id, api, store, chats }),
  }
}

const isGone = (said: TelegramResult): boolean =>
  !said.ok &&
  (said.code === 403 ||
    (said.code === 400 && /chat not found|user is deactivated/i.test(said.about)))
