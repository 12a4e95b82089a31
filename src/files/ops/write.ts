import { sha256Hex } from '#base/hash.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Ask } from '../worker/protocol.ts'
import { changeFile } from './change.ts'
import { nameOf } from './disk.ts'
import { lineEndingOf, withLineEnding } from './line-endings.ts'
import { checkEditable } from './present.ts'
import type { Present } from './present.ts'
import { codingOf, decoded, encoded, namedCoding, utf8 } from './text.ts'
import { textDiff, textOf } from './text-diff.ts'

export const write: RunOp<'write'> = async (context, ask, body) => {
  let diff: string | undefined
  let planned: string | undefined
  const changed = await changeFile(context, ask, async (present) => {
    if (present && ask.encoding !== 'binary') await checkEditable(present, ask.at.path, body)
    const bytes = await bytesOf(ask, body, present)
    // Who puts a new content there does not ask what was there before.
    if (!present || ask.how !== 'replace') return bytes
    const isSame = bytes.equals(present.bytes)
    diff = isSame ? '' : await diffOf(context, ask, present.bytes, bytes)
    if (!ask.dryRun && !isSame) return bytes
    planned = sha256Hex(bytes)
    return undefined
  })
  return { ...changed, ...(planned && { sha256: planned }), ...(diff !== undefined && { diff }) }
}

async function diffOf(context: OpContext, { at }: Ask<'write'>, from: Buffer, to: Buffer) {
  const [old, now] = [await textOf(from), await textOf(to)]
  if (old === undefined || now === undefined) return undefined
  // The same text, spelt in other bytes.
  return textDiff(old, now, nameOf(context, at)) || undefined
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
