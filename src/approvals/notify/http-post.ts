import { CoworkError } from '#base/errors.ts'
import type { SendOutcome, SendFailure, Sleep } from './model.ts'

const defaultTimeoutMs = 10_000

type PostRequest = {
  readonly address: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs?: number
  /** Reads at most this many bytes of the response body. Without it, only the status is used. */
  readonly maxBytes?: number
}
export type HttpReply = {
  readonly status: number
  readonly retryAfter: string | null
  /** The body, up to `maxBytes`. */
  readonly text: string
}

/**
 * Posts JSON. Returns the response or a failure; never throws, and ends within the timeout (A10).
 */
export async function post(
  { address, headers, body, timeoutMs = defaultTimeoutMs, maxBytes }: PostRequest,
  wait: Sleep,
  signal: AbortSignal,
): Promise<HttpReply | SendFailure> {
  const limit = new AbortController()
  void wait(timeoutMs, limit.signal).then(() => limit.abort())
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'cowork', ...headers },
      body,
      // A notification goes only to the configured URL.
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit.signal]),
    })
    const { status } = response
    const text = maxBytes === undefined ? '' : await readUpTo(response, maxBytes)
    return { status, retryAfter: response.headers.get('retry-after'), text }
  } catch (error) {
    if (signal.aborted) return { kind: 'interrupted' }
    const why = limit.signal.aborted
      ? `no response within ${timeoutMs / 1000} s`
      : networkErrorCode(error)
    return { kind: 'failed', error: why }
  } finally {
    // Ends the timer and the response, which may be endless.
    limit.abort()
  }
}

async function readUpTo({ body }: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(chunks).subarray(0, most).toString('utf8')
}

/**
 * Converts an HTTP status into the outcome of a delivery. `reason` is the receiver's error text.
 */
export function toSendOutcome(
  { status, retryAfter }: HttpReply,
  now: number,
  reason = '',
): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'sent' }
  const error = `receiver returned HTTP ${status}${reason && ` (${reason})`}`
  if (status === 410) return { kind: 'failed', error, isFinal: true }
  const waitMs = parseRetryAfter(retryAfter, now)
  return { kind: 'failed', error, ...(waitMs !== undefined && { waitMs }) }
}

export function parseRetryAfter(retryAfter: string | null, now: number): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now
  return ms > 0 ? ms : undefined
}

/** Returns only the error code, because the message may contain the URL with a password. */
export function networkErrorCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,50}$/.test(code)
  return `receiver unreachable${isCode ? ` (${code})` : ''}`
}

type Address = { readonly address: string; readonly authorization?: string }

/** Moves user and password of a URL into a header, because fetch rejects URLs that contain them. */
export function parseAddress(id: string, url: string): Address {
  const address = URL.parse(url)
  if (!address || !/^https?:$/.test(address.protocol))
    throw channelConfigError(
      `notify.channels: the url of "${id}" is invalid.`,
      'Use an http or https URL.',
    )
  const { username, password } = address
  if (username === '' && password === '') return { address: address.href }
  address.username = ''
  address.password = ''
  const user = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`).toString(
    'base64',
  )
  return { address: address.href, authorization: `Basic ${user}` }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Connections to this machine need no encryption. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

export const channelConfigError = (message: string, hint: string) =>
  new CoworkError('config_invalid', message, { hint })
