import { CoworkError } from '#base/errors.ts'

/** How many calls each principal has under way (SV25). */
export function createInFlight(most: number) {
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
export const mostFileBytes = 72 * 1024 * 1024

export const tooLarge = (mostBytes: number) =>
  new CoworkError('too_large', `The body is larger than ${mostBytes} bytes.`, {
    hint: 'Send less at once.',
  })

/** Reads a JSON body up to a size, counting the bytes that really come. */
export async function readJson(request: Request, mostBytes: number): Promise<unknown> {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > mostBytes) throw tooLarge(mostBytes)
  // A body of stated length has exactly that length by the time it gets here; only the others are counted.
  const text = length === null ? await readCounted(request, mostBytes) : await request.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new CoworkError('invalid_json', 'The body is not JSON.', {
      hint: 'Check it with a JSON parser.',
      cause,
    })
  }
}

async function readCounted(request: Request, mostBytes: number) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > mostBytes) throw tooLarge(mostBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
