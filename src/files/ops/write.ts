import { sha256Hex } from '#base/hash.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { FileError } from '../confine/file-error.ts'
import { changeFile } from './change.ts'
import { displayName, yieldOrCancel, fsync, writeAll } from './io.ts'
import { applyEdit, detectLineEnding, withLineEnding } from './edits.ts'
import { checkEditable, notFoundError } from './current-file.ts'
import type { CurrentFile } from './current-file.ts'
import { detectEncoding, decode, encode, getEncoding, textDiff, textOf, utf8 } from './encoding.ts'
import { publishOver, withTempFile } from './atomic-publish.ts'

export const write: RunOp<'write'> = async (context, ask, body) => {
  let diff: string | undefined
  let planned: string | undefined
  const changed = await changeFile(context, ask, async (present) => {
    if (present && ask.encoding !== 'binary') await checkEditable(present, ask.at.path, body)
    const bytes = await bytesOf(ask, body, present)
    // Who puts a new content there does not ask what was there before.
    if (!present || ask.writeMode !== 'replace') return bytes
    const isSame = bytes.equals(present.bytes)
    diff = isSame ? '' : await diffOf(context, ask, present.bytes, bytes)
    if (!ask.dryRun && !isSame) return bytes
    planned = sha256Hex(bytes)
    return undefined
  })
  return { ...changed, ...(planned && { sha256: planned }), ...(diff !== undefined && { diff }) }
}

async function diffOf(context: OpContext, { at }: OpRequest<'write'>, from: Buffer, to: Buffer) {
  const [old, now] = [await textOf(from), await textOf(to)]
  if (old === undefined || now === undefined) return undefined
  // The same text, spelt in other bytes.
  return textDiff(old, now, displayName(context, at)) || undefined
}

async function bytesOf(
  { encoding }: OpRequest<'write'>,
  body: Buffer,
  present: CurrentFile | undefined,
): Promise<Buffer> {
  if (encoding === 'binary') return body
  if (encoding !== 'keep') {
    const coding = await getEncoding(encoding)
    return coding === utf8 ? body : encode(body.toString('utf8'), coding)
  }
  const coding =
    present && present.bytes.length > 0 ? await detectEncoding(present.bytes) : undefined
  // New, empty, or no text so far: there is nothing to keep to.
  if (!present || !coding) return body
  const ending = detectLineEnding(decode(present.bytes, coding))
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  return encode(withLineEnding(text, ending), coding)
}

export const edit: RunOp<'edit'> = async (context, ask, _body, cancelled) => {
  let diff: string | undefined
  let planned: string | undefined
  const wanted = { ...ask, writeMode: 'replace' } as const
  const changed = await changeFile(context, wanted, async (present) => {
    if (!present) throw notFoundError(ask.at.path)
    await checkEditable(present, ask.at.path)
    const edited = await editedOf(context, ask, present, () => yieldOrCancel(context, cancelled))
    diff = edited.diff
    planned = sha256Hex(edited.bytes)
    return ask.dryRun || planned === present.sha256 ? undefined : edited.bytes
  })
  return { ...changed, sha256: planned ?? changed.sha256, ...(diff !== undefined && { diff }) }
}

async function editedOf(
  context: OpContext,
  { edits, at }: OpRequest<'edit'>,
  { bytes }: CurrentFile,
  /** Nothing is changed yet: it can be ended still. */
  rest: () => Promise<void>,
) {
  const coding = await detectEncoding(bytes)
  if (!coding) throw new FileError('not_text', 'The file is no text.', at.path)
  const text = decode(bytes, coding)
  // A wrong guess at an old encoding would change bytes that no edit names.
  if (!(await encode(text, coding)).equals(bytes))
    throw new FileError('not_text', 'The file cannot be read and written back unchanged.', at.path)
  let now = text
  for (const [place, one] of edits.entries()) {
    now = applyEdit(now, one, place + 1)
    await rest()
  }
  return { bytes: await encode(now, coding), diff: textDiff(text, now, displayName(context, at)) }
}

/** A file of cowork's own below `.cowork/`, which agents may read and not write (F6). */
export const writeInternalFile: RunOp<'writeInternalFile'> = async ({ roots }, { name }, body) => {
  if (!/^[a-z][\w.-]*$/.test(name))
    throw new FileError('invalid_path', 'That is no name for a file of ours.', name)
  await roots.get('workspace').withParent(
    `.cowork/${name}`,
    (parent) =>
      withTempFile(parent, 0o644, async (temporary) => {
        writeAll(temporary.fd, body)
        await fsync(temporary.fd)
        publishOver(temporary, parent.entryPath(parent.name))
      }),
    { need: 'write', parents: true, internal: true, keepLeafLink: true },
  )
  return { size: body.length }
}
