/** The result of a request: accepted, to be retried, or permanently refused. */
export type ExportResult =
  | { readonly status: 'taken'; readonly rejected: number }
  | { readonly status: 'again'; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly status: 'refused'; readonly reason: string }

export type Send = (
  path: 'traces' | 'metrics',
  body: object,
  until: AbortSignal,
) => Promise<ExportResult>

/** Responses are short; longer ones are not read to the end. */
const maxResponseBytes = 64 * 1024
/** The only retryable statuses of the OTLP specification. */
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
        // The headers may contain secrets: they go only to the configured URL.
        redirect: 'manual',
        signal: AbortSignal.any([limit, until]),
      })
      const { status } = response
      const text = await readResponse(response)
      if (text === undefined) return { status: 'refused', reason: 'collector response too large' }
      if (status === 200) return { status: 'taken', rejected: parseRejectedCount(text) }
      const reason = `collector returned HTTP ${status}`
      if (!retryableStatuses.includes(status)) return { status: 'refused', reason }
      const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'))
      return {
        status: 'again',
        reason,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
    } catch (error) {
      const reason = limit.aborted
        ? `no response within ${timeoutMs / 1000} s`
        : describeError(error)
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

/** Partially accepted requests are not repeated. */
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

/** Returns only the error code. */
function describeError(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : undefined
  const code: unknown = typeof cause === 'object' && cause && Reflect.get(cause, 'code')
  return `collector unreachable${typeof code === 'string' ? ` (${code})` : ''}`
}
