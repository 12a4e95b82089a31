import { CoworkError } from '#base/errors.ts'
import type { SendOutcome, SendFailure, Sleep } from './model.ts'

const usualTimeout = 10_000

type Posting = {
  readonly address: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly timeout?: number
  /** So many bytes of the answer are read; none where absent, only its status. */
  readonly most?: number
}
export type HttpReply = {
  readonly status: number
  readonly retryAfter: string | null
  /** What was read of it, cut where it went on. */
  readonly text: string
}

/** Posts JSON and gives the answer, or why there is none. Never throws, and never waits for long (A10). */
export async function post(
  { address, headers, body, timeout = usualTimeout, most }: Posting,
  wait: Sleep,
  signal: AbortSignal,
): Promise<HttpReply | SendFailure> {
  const limit = new AbortController()
  void wait(timeout, limit.signal).then(() => limit.abort())
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'cowork', ...headers },
      body,
      // A notice goes where the owner said and nowhere else.
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const { status } = response
    const text = most === undefined ? '' : await beginningOf(response, most)
    return { status, retryAfter: response.headers.get('retry-after'), text }
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' }
    const why = limit.signal.aborted
      ? `no answer within ${timeout / 1000} s`
      : networkErrorCode(error)
    return { kind: 'failed', error: why }
  } finally {
    // Ends the timer, and what else the receiver has to say: an answer may be endless.
    limit.abort()
  }
}

async function beginningOf({ body }: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(chunks).subarray(0, most).toString('utf8')
}

/** What an HTTP status means for a delivery. `said` is what the receiver gave as its reason. */
export function toSendOutcome(
  { status, retryAfter }: HttpReply,
  now: number,
  said = '',
): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const error = `the receiver answered ${status}${said && ` (${said})`}`
  if (status === 410) return { kind: 'failed', error, isFinal: true }
  const waitMs = parseRetryAfter(retryAfter, now)
  return { kind: 'failed', error, ...(waitMs !== undefined && { waitMs }) }
}

export function parseRetryAfter(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return ms > 0 ? ms : undefined
}

/** The code alone: the message may hold the address, and that a password. */
export function networkErrorCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,50}$/.test(code)
  return `the receiver could not be reached${isCode ? ` (${code})` : ''}`
}

type Address = { readonly address: string; readonly authorization?: string }

/** fetch refuses an address with a user in it; the header is what was meant. */
export function parseAddress(id: string, url: string): Address {
  const address = URL.parse(url)
  if (!address || !/^https?:$/.test(address.protocol))
    throw channelConfigError(`notify.channels: "${id}" has no valid url.`, 'Correct it.')
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

/** What stays on this machine needs no encryption. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

export const channelConfigError = (message: string, hint: string) =>
  new CoworkError('config_invalid', message, { hint })
