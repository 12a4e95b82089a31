import * as z from 'zod'
import { parseJson } from '#base/json.ts'
import type { ChannelOfType, SendFailure, Sleep } from '../model.ts'
import { channelConfigError, isLoopback, post } from '../http-post.ts'

/** Twenty updates are less than this, however much people write. */
const longestAnswer = 8_000_000

const answer = z.union([
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error_code: z.number().int().optional(),
    description: z.string().default(''),
    parameters: z
      .object({ retry_after: z.number().min(0) })
      .partial()
      .optional(),
  }),
])

export type TelegramResult =
  | { readonly ok: true; readonly result: unknown }
  /** `code` is there where Telegram itself said no. */
  | {
      readonly ok: false
      readonly code?: number
      readonly about: string
      readonly unsent: SendFailure
    }

export type Telegram = ReturnType<typeof createApi>

/** The Bot API. Its address holds the token, so no address is in any word of ours. */
export function createApi({ id, api, token }: ChannelOfType<'telegram'>, wait: Sleep) {
  const [, bot] = /^(\d+):[\w-]+$/.exec(token) ?? []
  if (bot === undefined)
    throw channelConfigError(
      `notify.channels: the token of "${id}" is not one of a Telegram bot.`,
      'Copy it from @BotFather: a number, a colon and letters.',
    )
  const base = URL.parse(api)
  if (!base || (base.protocol !== 'https:' && !isLoopback(base.hostname)))
    throw channelConfigError(`notify.channels: the api of "${id}" must be https.`, 'Leave it out.')
  const address = `${base.href.replace(/\/+$/, '')}/bot${token}`

  return {
    bot,
    async call(
      method: string,
      parameters: Readonly<Record<string, unknown>>,
      signal: AbortSignal,
      timeout?: number,
    ): Promise<TelegramResult> {
      const body = JSON.stringify(parameters)
      const limits = { most: longestAnswer, ...(timeout !== undefined && { timeout }) }
      const posted = await post({ address: `${address}/${method}`, body, ...limits }, wait, signal)
      if ('kind' in posted) return { ok: false, about: '', unsent: posted }
      const said = answer.safeParse(parseJson(posted.text))
      if (!said.success) return refused(`Telegram answered ${posted.status} and no JSON of its own`)
      if (said.data.ok) return said.data
      const { error_code: code = posted.status, description: about, parameters: more } = said.data
      const words = `Telegram answered ${code}${shown.test(about) ? ` (${about})` : ''}`
      return refused(words, code, about, more?.retry_after)
    },
  }
}

/** Only what cannot hide anything is repeated. */
const shown = /^[\w ,.:;'()/-]{1,100}$/

const refused = (error: string, code?: number, about = '', seconds?: number): TelegramResult => ({
  ok: false,
  about,
  ...(code !== undefined && { code }),
  unsent: {
    kind: 'failed',
    error,
    ...(seconds !== undefined && { waitMs: seconds * 1000 }),
  },
})
