type Result = Readonly<Record<string, unknown>>

/** A result larger than this does not fit into the context of a model. */
const maxResultBytes = 1024 * 1024

/** Cuts the texts of a result that is too large, and says so. Other parts of it are dropped (U9). */
export function limitResult(result: Result): Result {
  const size = Buffer.byteLength(JSON.stringify(result))
  if (size <= maxResultBytes) return result
  let left = maxResultBytes
  const content = Array.isArray(result['content']) ? (result['content'] as Result[]) : []
  const kept = content.flatMap((block) => {
    const text = block['text']
    if (block['type'] !== 'text' || typeof text !== 'string' || left <= 0) return []
    const part = text.slice(0, left)
    left -= part.length
    return [{ ...block, text: part }]
  })
  const note = `[cowork: the result has ${size} bytes; only the first part of its text is shown. Ask for less.]`
  return {
    content: [...kept, { type: 'text', text: note }],
    ...(result['isError'] === true && { isError: true }),
  }
}

/** Masks secrets in every text of a result, except the binary data of images and audio (U9). */
export function maskResult(result: Result, mask: (text: string) => string): Result {
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return mask(value)
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const isMedia = 'mimeType' in value && ('data' in value || 'blob' in value)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) =>
        isMedia && (key === 'data' || key === 'blob') ? [key, item] : [key, visit(item)],
      ),
    )
  }
  return visit(result) as Result
}
