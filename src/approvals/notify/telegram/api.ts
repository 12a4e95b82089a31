import * as z from 'zod'
import { parseJson } from '#base/json.ts'
import type { ChannelOfType, SendFailure, Sleep } from '../model.ts'
import { channelConfigError, isLoopback, post } from '../http-post.ts'

/** Twenty updates are always smaller. */
const maxResponseBytes = 8_000_000

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
  /** `code` is set if Telegram itself returned an error. */
  | {
      readonly ok: false
      readonly code?: number
      readonly description: string
      readonly failure: SendFailure
    }

export type Telegram = ReturnType<typeof createApi>

/** Creates a Bot API client. The URL contains the token, so no error text contains a URL. */
export function createApi({ id, api, token }: ChannelOfType<'telegram'>, wait: Sleep) {
  const [, bot] = /^(\d+):[\w-]+$/.exec(token) ?? []
  if (bot === undefined)
    throw channelConfigError(
      `notify.channels: the token of "${id}" is not a Telegram bot token.`,
      'Copy the token from @BotFather: a number, a colon and letters.',
    )
  const base = URL.parse(api)
  if (!base || (base.protocol !== 'https:' && !isLoopback(base.hostname)))
    throw channelConfigError(
      `notify.channels: the api of "${id}" must use https.`,
      'Remove the api setting.',
    )
  const address = `${base.href.replace(/\/+$/, '')}/bot${token}`

  return {
    bot,
    async call(
      method: string,
      parameters: Readonly<Record<string, unknown>>,
      signal: AbortSignal,
      timeoutMs?: number,
    ): Promise<TelegramResult> {
      const body = JSON.stringify(parameters)
      const limits = {
        maxBytes: maxResponseBytes,
        ...(timeoutMs !== undefined && { timeoutMs }),
      }
      const posted = await post({ address: `${address}/${method}`, body, ...limits }, wait, signal)
      if ('kind' in posted) return { ok: false, description: '', failure: posted }
      const reply = answer.safeParse(parseJson(posted.text))
      if (!reply.success) return toFailure(`Telegram returned ${posted.status} without valid JSON`)
      if (reply.data.ok) return reply.data
      const { error_code: code = posted.status, description, parameters: more } = reply.data
      const error = `Telegram returned ${code}${printable.test(description) ? ` (${description})` : ''}`
      return toFailure(error, code, description, more?.retry_after)
    },
  }
}

/** Only plain descriptions are repeated in errors. */
const printable = /^[\w ,.:;'()/-]{1,100}$/

const toFailure = (
  error: string,
  code?: number,
  description = '',
  seconds?: number,
): TelegramResult => ({
  ok: false,
  description,
  ...(code !== undefined && { code }),
  failure: {
    kind: 'failed',
    error,
    ...(seconds !== undefined && { waitMs: seconds * 1000 }),
  },
})
