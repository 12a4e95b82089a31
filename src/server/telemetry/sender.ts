/** What became of a request: taken, to be tried again, or of no use to repeat. */
export type ExportResult =
  | { readonly as: 'taken'; readonly rejected: number }
  | { readonly as: 'again'; readonly why: string; readonly waitMs?: number }
  | { readonly as: 'refused'; readonly why: string }

export type Send = (
  path: 'traces' | 'metrics',
  body: object,
  until: AbortSignal,
) => Promise<ExportResult>

/** An answer says little; one that goes on and on is not read to its end. */
const longestAnswer = 64 * 1024
/** By the OTLP specification these and no others. */
const passing = [429, 502, 503, 504]
const longestPause = 5 * 60_000

export function createSend(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Send {
  const base = new URL(endpoint)
  const folder = base.pathname.replace(/\/+$/, '')
  const addressOf = (path: string) => new URL(`${folder}/v1/${path}${base.search}`, base)
  const all = { 'user-agent': 'cowork', ...headers, 'content-type': 'application/json' }

  return async function send(path, body, until) {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(addressOf(path), {
        method: 'POST',
        headers: all,
        body: JSON.stringify(body),
        // The headers may be a secret: they go where the owner said and nowhere else.
        redirect: 'manual',
        signal: AbortSignal.any([limit, until]),
      })
      const { status } = response
      const text = await answerOf(response)
      if (text === undefined)
        return { as: 'refused', why: 'the answer of the collector is too long' }
      if (status === 200) return { as: 'taken', rejected: rejectedIn(text) }
      const why = `the collector answered ${status}`
      if (!passing.includes(status)) return { as: 'refused', why }
      const waitMs = pauseOf(response.headers.get('retry-after'))
      return { as: 'again', why, ...(waitMs !== undefined && { waitMs }) }
    } catch (error) {
      const why = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error)
      return { as: 'again', why }
    }
  }
}

async function answerOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > longestAnswer) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** What a collector took only in part is not sent again. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess: part } = JSON.parse(text) as {
      partialSuccess?: { rejectedSpans?: string | number }
    }
    return Number(part?.rejectedSpans ?? 0) || 0
  } catch {
    return 0
  }
}

function pauseOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.now()
  return ms > 0 ? Math.min(ms, longestPause) : undefined
}

/** The code alone. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  return `the collector could not be reached${typeof code === 'string' ? ` (${code})` : ''}`
}
