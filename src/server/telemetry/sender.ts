/** What became of a request: taken, to be tried again, or of no use to repeat. */
export type ExportResult =
  | { readonly status: 'taken'; readonly rejected: number }
  | { readonly status: 'again'; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly status: 'refused'; readonly reason: string }

export type Send = (
  path: 'traces' | 'metrics',
  body: object,
  until: AbortSignal,
) => Promise<ExportResult>

/** An answer says little; one that goes on and on is not read to its end. */
const maxResponseBytes = 64 * 1024
/** By the OTLP specification these and no others. */
const retryableStatuses = [429, 502, 503, 504]
const maxRetryAfterMs = 5 * 60_000

export function createSender(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Send {
  const base = new URL(endpoint)
  const folder = base.pathname.replace(/\/+$/, '')
  const toUrl = (path: string) => new URL(`${folder}/v1/${path}${base.search}`, base)
  const all = { 'user-agent': 'cowork', ...headers, 'content-type': 'application/json' }

  return async function send(path, body, until) {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(toUrl(path), {
        method: 'POST',
        headers: all,
        body: JSON.stringify(body),
        // The headers may be a secret: they go where the owner said and nowhere else.
        redirect: 'manual',
        signal: AbortSignal.any([limit, until]),
      })
      const { status } = response
      const text = await readResponse(response)
      if (text === undefined)
        return { status: 'refused', reason: 'the answer of the collector is too long' }
      if (status === 200) return { status: 'taken', rejected: parseRejectedCount(text) }
      const reason = `the collector answered ${status}`
      if (!retryableStatuses.includes(status)) return { status: 'refused', reason }
      const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'))
      return {
        status: 'again',
        reason,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
    } catch (error) {
      const reason = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : describeError(error)
      return { status: 'again', reason }
    }
  }
}

async function readResponse({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxResponseBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** What a collector took only in part is not sent again. */
function parseRejectedCount(text: string): number {
  try {
    const { partialSuccess: part } = JSON.parse(text) as {
      partialSuccess?: { rejectedSpans?: string | number }
    }
    return Number(part?.rejectedSpans ?? 0) || 0
  } catch {
    return 0
  }
}

function parseRetryAfter(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.now()
  return ms > 0 ? Math.min(ms, maxRetryAfterMs) : undefined
}

/** The code alone. */
function describeError(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  return `the collector could not be reached${typeof code === 'string' ? ` (${code})` : ''}`
}
