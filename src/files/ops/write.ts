import type { RunOp } from '../worker/context.ts'
import type { Ask } from '../worker/protocol.ts'
import { changeFile } from './change.ts'
import { lineEndingOf, withLineEnding } from './line-endings.ts'
import type { Present } from './present.ts'
import { codingOf, decoded, encoded, namedCoding, utf8 } from './text.ts'
import { diffOf } from './text-diff.ts'

export const write: RunOp<'write'> = async (context, ask, body) => {
  let diff: string | undefined
  const changed = await changeFile(context, ask, async (present) => {
    const bytes = await bytesOf(ask, body, present)
    if (present) diff = await diffOf(present.bytes, bytes, ask.at.path)
    return bytes
  })
  return { ...changed, ...(diff !== undefined && { diff }) }
}

/** The body in the encoding that is wanted. */
async function bytesOf(
  { encoding }: Ask<'write'>,
  body: Buffer,
  present: Present | undefined,
): Promise<Buffer> {
  if (encoding === 'binary') return body
  if (encoding !== 'keep') {
    const coding = await namedCoding(encoding)
    return coding === utf8 ? body : encoded(body.toString('utf8'), coding)
  }
  const coding = present && present.bytes.length > 0 ? await codingOf(present.bytes) : undefined
  // New, empty, or no text so far: there is nothing to keep to.
  if (!present || !coding) return body
  const ending = lineEndingOf(decoded(present.bytes, coding))
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  return encoded(withLineEnding(text, ending), coding)
}
