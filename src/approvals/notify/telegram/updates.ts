import * as z from 'zod'
import { errorMessage } from '#base/errors.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { formatOutcome } from '../notification-text.ts'
import type { Telegram } from './api.ts'
import type { TelegramDeps } from './channel.ts'
import { personActor } from './chats.ts'
import type { Chats } from './chats.ts'
import type { ChatStore } from './store.ts'
import { parseButtonPress } from './text.ts'

type Deps = TelegramDeps & {
  readonly channel: string
  readonly api: Telegram
  readonly store: ChatStore
  readonly chats: Chats
}

/** The long-poll time of getUpdates in seconds; the request timeout is 10 s longer. */
const pollSeconds = 25
const pollTimeout = (pollSeconds + 10) * 1000
const maxUpdates = 20
const leaderPollMs = 5000
const minDelayMs = 5000
const maxDelayMs = 60_000
/** Replies per batch to unlinked chats, so attempts to guess codes do not delay other messages. */
const maxUnlinkedReplies = 3

const from = z.object({ id: z.number().int() })
const chat = z.object({ id: z.number().int() })
const update = z.object({
  update_id: z.number().int(),
  message: z.object({ chat, from, text: z.string() }).optional().catch(undefined),
  callback_query: z
    .object({
      id: z.string(),
      from,
      message: z.object({ chat }).optional(),
      data: z.string(),
    })
    .optional()
    .catch(undefined),
})
type Update = z.output<typeof update>

/** Creates the loop that handles messages and button presses. Only the leading daemon polls. */
export function createUpdatePoller(deps: Deps) {
  const { channel, api, store, chats, db, describe, decide, sleep, log } = deps

  return async function listen(signal: AbortSignal): Promise<void> {
    let pause = minDelayMs
    let isBroken = false
    while (!signal.aborted) {
      try {
        if (!(await db.isLeader())) {
          await sleep(leaderPollMs, signal)
          continue
        }
        const failure = await pollOnce(signal)
        if (failure === undefined) {
          pause = minDelayMs
          isBroken = false
          continue
        }
        if (!isBroken) log.warn('telegram polling failed', { channel, error: failure.error })
        isBroken = true
        await sleep(Math.max(pause, Math.min(failure.waitMs ?? 0, maxDelayMs)), signal)
      } catch (error) {
        log.error('telegram update loop failed', { channel, error: errorMessage(error) })
        await sleep(pause, signal)
      }
      pause = Math.min(pause * 2, maxDelayMs)
    }
  }

  async function pollOnce(signal: AbortSignal): Promise<PollFailure | undefined> {
    const offset = await store.findOffset(db, api.bot)
    const parameters = {
      ...(offset !== undefined && { offset }),
      timeout: pollSeconds,
      limit: maxUpdates,
      allowed_updates: ['message', 'callback_query'],
    }
    const reply = await api.call('getUpdates', parameters, signal, pollTimeout)
    if (!reply.ok) return reply.failure.kind === 'failed' ? reply.failure : undefined
    const updates = z.array(z.looseObject({ update_id: z.number().int() })).safeParse(reply.result)
    if (!updates.success) return { error: 'Telegram returned invalid updates' }
    const budget = { unlinkedReplies: 0 }
    for (const one of updates.data) {
      const { data } = update.safeParse(one)
      try {
        if (data) await handleUpdate(data, budget, signal)
      } catch (error) {
        log.error('telegram update dropped', { channel, error: errorMessage(error) })
      }
      // Saved after each update: an update repeated after a crash has no second effect.
      await db.transact((tx) => store.saveOffset(tx, api.bot, one.update_id + 1))
    }
    return undefined
  }

  async function handleUpdate(
    { message, callback_query: press }: Update,
    budget: ReplyBudget,
    signal: AbortSignal,
  ) {
    if (press) {
      const reply = await replyToButton(press.from.id, press.message?.chat.id, press.data)
      const text = sanitizeText(reply, 200)
      await api.call('answerCallbackQuery', { callback_query_id: press.id, text }, signal)
    } else if (message) {
      const text = await replyToMessage(message, budget)
      if (text !== undefined)
        await api.call('sendMessage', { chat_id: message.chat.id, text }, signal)
    }
  }

  async function replyToMessage(message: NonNullable<Update['message']>, budget: ReplyBudget) {
    const own = String(message.chat.id)
    const [, command, code = ''] =
      /^\/(start|stop)(?:@\w+)?(?:\s+(\S{1,100}))?\s*$/.exec(message.text) ?? []
    if (command === undefined) return undefined
    const toUnlinked = (text: string) =>
      budget.unlinkedReplies++ < maxUnlinkedReplies ? text : undefined
    // In a group, every member could press the buttons. The id of a private chat equals the id of
    // its person.
    if (message.chat.id !== message.from.id)
      return toUnlinked('Use a private chat: a group cannot be linked to a person.')
    const bound = await store.find(db, channel, own)
    if (command === 'stop') {
      if (!bound) return undefined
      await db.transact((tx) =>
        chats.unbind(tx, bound, personActor(bound.person), 'requested in the chat'),
      )
      return 'This chat is no longer linked to a person.'
    }
    if (code !== '') {
      const person = await db.transact((tx) => chats.bind(tx, own, code))
      if (person !== undefined)
        return `This chat is linked to ${sanitizeText(person)}. Send /stop to unlink it.`
    }
    if (bound)
      return `This chat is linked to ${sanitizeText(bound.person)}. Send /stop to unlink it.`
    return toUnlinked(
      'Invalid code: unknown, used or expired. Create a code with cowork_bind_chat and send /start <code>.',
    )
  }

  /** Handles a button press. An unlinked chat, or a risk above low, decides nothing (A5). */
  async function replyToButton(
    who: number,
    where: number | undefined,
    data: string,
  ): Promise<string> {
    const bound = where === who ? await store.find(db, channel, String(who)) : undefined
    if (!bound) return 'This chat is not linked to a person and cannot decide.'
    const press = parseButtonPress(data)
    const about = press && (await describe(db, [press.approval])).get(press.approval)
    if (!press || !about) return 'Unknown request.'
    if (about.status !== 'pending')
      return `Already decided: ${formatOutcome(about.status, about.decidedBy)}.`
    // An earlier version sent buttons with spot checks.
    if (about.kind === 'spot_check') return 'Open the inbox to answer this spot check.'
    if (about.risk !== 'low') return 'Risk above low: decide in the inbox.'
    try {
      const decision = await decide(bound.person, press.approval, press.verdict)
      return 'refused' in decision
        ? decision.refused
        : `${formatOutcome(decision.status, undefined)}.`
    } catch (error) {
      log.error('telegram decision failed', { channel, error: errorMessage(error) })
      return 'Decision failed: decide in the inbox.'
    }
  }
}

type ReplyBudget = { unlinkedReplies: number }
type PollFailure = { readonly error: string; readonly waitMs?: number }
