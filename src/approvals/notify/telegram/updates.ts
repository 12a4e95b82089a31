import * as z from 'zod'
import { errorMessage as faultOf } from '#base/errors.ts'
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

/** Seconds that Telegram keeps a question for updates open, and what we give it besides. */
const pollSeconds = 25
const pollTimeout = (pollSeconds + 10) * 1000
const mostUpdates = 20
const lookEvery = 5000
const shortestPause = 5000
const longestPause = 60_000
/** Strangers who try codes get this many answers of each batch, so that nobody waits for them. */
const mostStrangers = 3

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

/** What people write to the bot, and the buttons they press. One daemon listens. */
export function createUpdatePoller(deps: Deps) {
  const { channel, api, store, chats, db, describe, decide, wait, log } = deps

  return async function listen(signal: AbortSignal): Promise<void> {
    let pause = shortestPause
    let isBroken = false
    while (!signal.aborted) {
      try {
        if (!(await db.isLeader())) {
          await wait(lookEvery, signal)
          continue
        }
        const why = await round(signal)
        if (why === undefined) {
          pause = shortestPause
          isBroken = false
          continue
        }
        if (!isBroken) log.warn('Telegram is not heard', { channel, error: why.error })
        isBroken = true
        await wait(Math.max(pause, Math.min(why.waitMs ?? 0, longestPause)), signal)
      } catch (error) {
        log.error('what Telegram says is not taken', { channel, error: faultOf(error) })
        await wait(pause, signal)
      }
      pause = Math.min(pause * 2, longestPause)
    }
  }

  async function round(signal: AbortSignal): Promise<Trouble | undefined> {
    const offset = await store.place(db, api.bot)
    const asked = {
      ...(offset !== undefined && { offset }),
      timeout: pollSeconds,
      limit: mostUpdates,
      allowed_updates: ['message', 'callback_query'],
    }
    const said = await api.call('getUpdates', asked, signal, pollTimeout)
    if (!said.ok) return said.unsent.kind === 'failed' ? said.unsent : undefined
    const updates = z.array(z.looseObject({ update_id: z.number().int() })).safeParse(said.result)
    if (!updates.success) return { error: 'Telegram gave updates that are none' }
    const crowd = { strangers: 0 }
    for (const one of updates.data) {
      const { data } = update.safeParse(one)
      try {
        if (data) await take(data, crowd, signal)
      } catch (error) {
        log.error('what somebody said to the bot is lost', { channel, error: faultOf(error) })
      }
      // One at a time: what is heard twice after a crash does nothing the second time.
      await db.transact((tx) => store.savePlace(tx, api.bot, one.update_id + 1))
    }
    return undefined
  }

  async function take(
    { message, callback_query: press }: Update,
    crowd: Crowd,
    signal: AbortSignal,
  ) {
    if (press) {
      const said = await pressed(press.from.id, press.message?.chat.id, press.data)
      const text = sanitizeText(said, 200)
      await api.call('answerCallbackQuery', { callback_query_id: press.id, text }, signal)
    } else if (message) {
      const said = await written(message, crowd)
      if (said !== undefined)
        await api.call('sendMessage', { chat_id: message.chat.id, text: said }, signal)
    }
  }

  async function written(message: NonNullable<Update['message']>, crowd: Crowd) {
    const own = String(message.chat.id)
    const [, command, code = ''] =
      /^\/(start|stop)(?:@\w+)?(?:\s+(\S{1,100}))?\s*$/.exec(message.text) ?? []
    if (command === undefined) return undefined
    const toStranger = (said: string) => (crowd.strangers++ < mostStrangers ? said : undefined)
    // In a group everyone could press what one of them may decide; a private chat has the id of its person.
    if (message.chat.id !== message.from.id)
      return toStranger('Write to me in a private chat: a group is bound to nobody.')
    const bound = await store.find(db, channel, own)
    if (command === 'stop') {
      if (!bound) return undefined
      await db.transact((tx) =>
        chats.unbind(tx, bound, personActor(bound.person), 'asked for in the chat'),
      )
      return 'This chat is bound to nobody any more.'
    }
    if (code !== '') {
      const person = await db.transact((tx) => chats.bind(tx, own, code))
      if (person !== undefined)
        return `This chat is bound to ${sanitizeText(person)}. Questions come here; /stop ends it.`
    }
    if (bound) return `This chat is bound to ${sanitizeText(bound.person)}. /stop ends it.`
    return toStranger(
      'This code is unknown, used or older than ten minutes. Make one with cowork_bind_chat and send /start <code>.',
    )
  }

  /** What came of a button. A chat that is bound to nobody, or a risk above low, decides nothing (A5). */
  async function pressed(who: number, where: number | undefined, data: string): Promise<string> {
    const bound = where === who ? await store.find(db, channel, String(who)) : undefined
    if (!bound) return 'This chat is bound to nobody, so it decides nothing.'
    const press = parseButtonPress(data)
    const about = press && (await describe(db, [press.approval])).get(press.approval)
    if (!press || !about) return 'This is not known any more.'
    if (about.status !== 'pending')
      return `${formatOutcome(about.status, about.decidedBy)} already.`
    // A button from before checks had to be opened.
    if (about.kind === 'spot_check') return 'A check is answered in the inbox.'
    if (about.risk !== 'low') return 'Its risk is above low: decide it in the inbox.'
    try {
      const made = await decide(bound.person, press.approval, press.verdict)
      return 'refused' in made ? made.refused : `${formatOutcome(made.status, undefined)}.`
    } catch (error) {
      log.error('a decision was not made', { channel, error: faultOf(error) })
      return 'That did not work: decide it in the inbox.'
    }
  }
}

type Crowd = { strangers: number }
type Trouble = { readonly error: string; readonly waitMs?: number }
