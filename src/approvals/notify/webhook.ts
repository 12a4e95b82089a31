import { Webhook } from 'standardwebhooks'
import { CoworkError } from '#base/errors.ts'
import type { Outcome, Send, Wait, WebhookChannel } from './model.ts'

const timeout = 10_000
/** Standard Webhooks asks for 24 to 64 bytes. */
const shortestKey = 24

/** Posts notices, signed by Standard Webhooks (A10). What the receiver answers is not read, only its status. */
export function createWebhook(channel: WebhookChannel, wait: Wait): Send {
  const { address, authorization } = addressOf(channel)
  const signer = signerOf(channel)

  return async ({ id, notice, at }, signal): Promise<Outcome> => {
    const limit = new AbortController()
    void wait(timeout, limit.signal).then(() => limit.abort())
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'cowork',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at / 1000)),
          'webhook-signature': signer.sign(id, new Date(at), notice),
          ...(authorization !== undefined && { authorization }),
        },
        body: notice,
        // A notice goes where the owner said and nowhere else.
        redirect: 'manual',
        signal: AbortSignal.any([signal, limit.signal]),
      })
      return outcomeOf(response, at)
    } catch (error) {
      if (signal.aborted) return { kind: 'interrupted' }
      const why = limit.signal.aborted ? `no answer within ${timeout / 1000} s` : reasonOf(error)
      return { kind: 'failed', error: why }
    } finally {
      // Ends the timer, and what else the receiver has to say: an answer may be endless.
      limit.abort()
    }
  }
}

function outcomeOf({ ok, status, headers }: Response, now: number): Outcome {
  if (ok) return { kind: 'sent' }
  const error = `the receiver answered ${status}`
  if (status === 410) return { kind: 'failed', error, isFinal: true }
  const waitMs = pauseOf(headers.get('retry-after'), now)
  return { kind: 'failed', error, ...(waitMs !== undefined && { waitMs }) }
}

/** Seconds, or the time of an HTTP date. */
export function pauseOf(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return ms > 0 ? ms : undefined
}

/** The code alone: the message of fetch may hold the address, and that a password. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,50}$/.test(code)
  return `the receiver could not be reached${isCode ? ` (${code})` : ''}`
}

/** fetch refuses an address with a user in it; the header is what was meant. */
function addressOf({ id, url }: WebhookChannel): { address: string; authorization?: string } {
  if (!URL.canParse(url)) throw invalid(`notify.channels: "${id}" has no valid url.`, 'Correct it.')
  const address = new URL(url)
  const { username, password } = address
  if (username === '' && password === '') return { address: address.href }
  address.username = ''
  address.password = ''
  const user = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  return { address: address.href, authorization: `Basic ${user}` }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function signerOf({ id, secret }: WebhookChannel): Webhook {
  const [, text = ''] = /^whsec_(.+?)=*$/.exec(secret) ?? []
  const key = Buffer.from(text, 'base64')
  if (key.length < shortestKey || key.toString('base64').replace(/=+$/, '') !== text)
    throw invalid(
      `The secret of the webhook "${id}" must be whsec_ and at least ${shortestKey} bytes in base64.`,
      'Make one with: echo "whsec_$(openssl rand -base64 32)"',
    )
  return new Webhook(key, { format: 'raw' })
}

const invalid = (message: string, hint: string) =>
  new CoworkError('config_invalid', message, { hint })
