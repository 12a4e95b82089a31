import { CoworkError } from '#base/errors.ts'

/** How many calls each principal has under way (SV25). */
export function createInFlightLimiter(most: number) {
  const counts = new Map<string, number>()
  return {
    /** Gives the function that ends the call, or nothing when the principal has too many. */
    enter(principal: string): (() => void) | undefined {
      const count = counts.get(principal) ?? 0
      if (count >= most) return undefined
      counts.set(principal, count + 1)
      let left = false
      return () => {
        if (left) return
        left = true
        const now = (counts.get(principal) ?? 1) - 1
        if (now === 0) counts.delete(principal)
        else counts.set(principal, now)
      }
    },
  }
}

/** As much as an authenticated write of a file may bring: 50 MB in base64, and some room (SV25). */
export const maxFileBodyBytes = 72 * 1024 * 1024

/**
 * The most bytes of an agent's message that writes no file: the ledger records 256 KiB of arguments, and MCP puts some
 * more around them (RS4).
 */
export const maxMessageBytes = (256 + 16) * 1024

export const bodyTooLargeError = (mostBytes: number) =>
  new CoworkError('too_large', `The body is larger than ${mostBytes} bytes.`, {
    hint: 'Send less at once. Only calls that write a file may be larger, with a token of the agent.',
  })

/** Reads a JSON body up to a size, counting the bytes that really come. */
export const readJsonBody = async (request: Request, mostBytes: number): Promise<unknown> =>
  parseJson((await readBytes(request, mostBytes)).toString('utf8'))

export async function readBytes(request: Request, mostBytes: number): Promise<Buffer> {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > mostBytes) throw bodyTooLargeError(mostBytes)
  // A body of stated length has exactly that length by the time it gets here; only the others are counted.
  return length === null
    ? readCounted(request, mostBytes)
    : Buffer.from(await request.arrayBuffer())
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalidJson(cause)
  }
}

export const invalidJson = (cause?: unknown) =>
  new CoworkError('invalid_json', 'The body is not JSON.', {
    hint: 'Check it with a JSON parser.',
    cause,
  })

async function readCounted(request: Request, mostBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > mostBytes) throw bodyTooLargeError(mostBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
