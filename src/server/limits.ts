import { CoworkError } from '#base/errors.ts'

/** Limits the running calls per principal (SV25). */
export function createInFlightLimiter(maxCalls: number) {
  const counts = new Map<string, number>()
  return {
    /** Returns the function that ends the call, or undefined if the principal has too many. */
    enter(principal: string): (() => void) | undefined {
      const count = counts.get(principal) ?? 0
      if (count >= maxCalls) return undefined
      counts.set(principal, count + 1)
      let isDone = false
      return () => {
        if (isDone) return
        isDone = true
        const now = (counts.get(principal) ?? 1) - 1
        if (now === 0) counts.delete(principal)
        else counts.set(principal, now)
      }
    },
  }
}

/** The maximum body of an authenticated file write: 50 MB in base64, and a margin (SV25). */
export const maxFileBodyBytes = 72 * 1024 * 1024

/**
 * The maximum size of an agent's message that writes no file: the ledger records 256 KiB of arguments, and the MCP
 * envelope needs some more (RS4).
 */
export const maxMessageBytes = (256 + 16) * 1024

export const bodyTooLargeError = (maxBytes: number) =>
  new CoworkError('too_large', `Request body too large: the limit is ${maxBytes} bytes.`, {
    hint: 'Send less at once. Only file writes with an agent token can be larger.',
  })

/** Reads a JSON body up to a size and counts the received bytes. */
export const readJsonBody = async (request: Request, maxBytes: number): Promise<unknown> =>
  parseJson((await readBytes(request, maxBytes)).toString('utf8'))

export async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > maxBytes) throw bodyTooLargeError(maxBytes)
  // Node enforces a declared content-length, so only other bodies are counted.
  return length === null ? readUpTo(request, maxBytes) : Buffer.from(await request.arrayBuffer())
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalidJsonError(cause)
  }
}

export const invalidJsonError = (cause?: unknown) =>
  new CoworkError('invalid_json', 'The body is not valid JSON.', {
    hint: 'Check the body with a JSON parser.',
    cause,
  })

async function readUpTo(request: Request, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw bodyTooLargeError(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
