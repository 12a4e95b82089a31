import { sha256Hex } from '#base/hash.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Ask } from '../worker/protocol.ts'
import { FileFault } from '../confine/fault.ts'
import { changeFile } from './change.ts'
import { nameOf, pause, sync, writeAll } from './disk.ts'
import { applyEdit, lineEndingOf, withLineEnding } from './edits.ts'
import { checkEditable, notFound } from './present.ts'
import type { Present } from './present.ts'
import { codingOf, decoded, encoded, namedCoding, textDiff, textOf, utf8 } from './text.ts'
import { placeOver, withTemporary } from './placing.ts'

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

export const edit: RunOp<'edit'> = async (context, ask, _body, cancelled) => {
  let diff: string | undefined
  let planned: string | undefined
  const wanted = { ...ask, how: 'replace' } as const
  const changed = await changeFile(context, wanted, async (present) => {
    if (!present) throw notFound(ask.at.path)
    await checkEditable(present, ask.at.path)
    const edited = await editedOf(context, ask, present, () => pause(context, cancelled))
    diff = edited.diff
    planned = sha256Hex(edited.bytes)
    return ask.dryRun || planned === present.sha256 ? undefined : edited.bytes
  })
  return { ...changed, sha256: planned ?? changed.sha256, ...(diff !== undefined && { diff }) }
}

async function editedOf(
  context: OpContext,
  { edits, at }: Ask<'edit'>,
  { bytes }: Present,
  /** Nothing is changed yet: it can be ended still. */
  rest: () => Promise<void>,
) {
  const coding = await codingOf(bytes)
  if (!coding) throw new FileFault('not_text', 'The file is no text.', at.path)
  const text = decoded(bytes, coding)
  // A wrong guess at an old encoding would change bytes that no edit names.
  if (!(await encoded(text, coding)).equals(bytes))
    throw new FileFault('not_text', 'The file cannot be read and written back unchanged.', at.path)
  let now = text
  for (const [place, one] of edits.entries()) {
    now = applyEdit(now, one, place + 1)
    await rest()
  }
  return { bytes: await encoded(now, coding), diff: textDiff(text, now, nameOf(context, at)) }
}

/** A file of cowork's own below `.cowork/`, which agents may read and not write (F6). */
export const writeOwn: RunOp<'writeOwn'> = async ({ roots }, { name }, body) => {
  if (!/^[a-z][\w.-]*$/.test(name))
    throw new FileFault('invalid_path', 'That is no name for a file of ours.', name)
  await roots.get('workspace').withParent(
    `.cowork/${name}`,
    (parent) =>
      withTemporary(parent, 0o644, async (temporary) => {
        writeAll(temporary.fd, body)
        await sync(temporary.fd)
        placeOver(temporary, parent.at(parent.name))
      }),
    { need: 'write', parents: true, own: true, keepLeafLink: true },
  )
  return { size: body.length }
}
