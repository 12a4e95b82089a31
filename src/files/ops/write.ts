import { sha256Hex } from '#base/hash.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { FileError } from '../confine/file-error.ts'
import { changeFile } from './change.ts'
import { displayName, yieldOrCancel, fsync, writeAll } from './io.ts'
import { applyEdit, detectLineEnding, withLineEnding } from './edits.ts'
import { checkEditable, notFoundError } from './current-file.ts'
import type { CurrentFile } from './current-file.ts'
import {
  detectEncoding,
  decode,
  encode,
  getEncoding,
  textDiff,
  decodeText,
  utf8,
} from './encoding.ts'
import { publishOver, withTempFile } from './atomic-publish.ts'

export const write: RunOp<'write'> = async (context, ask, body) => {
  let diff: string | undefined
  let plannedHash: string | undefined
  const changed = await changeFile(context, ask, async (current) => {
    if (current && ask.encoding !== 'binary') await checkEditable(current, ask.at.path, body)
    const bytes = await encodeBody(ask, body, current)
    // Only `replace` reports a diff.
    if (!current || ask.writeMode !== 'replace') return bytes
    const isSame = bytes.equals(current.bytes)
    diff = isSame ? '' : await buildDiff(context, ask, current.bytes, bytes)
    if (!ask.dryRun && !isSame) return bytes
    plannedHash = sha256Hex(bytes)
    return undefined
  })
  return {
    ...changed,
    ...(plannedHash && { sha256: plannedHash }),
    ...(diff !== undefined && { diff }),
  }
}

async function buildDiff(context: OpContext, { at }: OpRequest<'write'>, from: Buffer, to: Buffer) {
  const [old, now] = [await decodeText(from), await decodeText(to)]
  if (old === undefined || now === undefined) return undefined
  // An empty diff here means the same text in another encoding.
  return textDiff(old, now, displayName(context, at)) || undefined
}

async function encodeBody(
  { encoding }: OpRequest<'write'>,
  body: Buffer,
  current: CurrentFile | undefined,
): Promise<Buffer> {
  if (encoding === 'binary') return body
  if (encoding !== 'keep') {
    const coding = await getEncoding(encoding)
    return coding === utf8 ? body : encode(body.toString('utf8'), coding)
  }
  const coding =
    current && current.bytes.length > 0 ? await detectEncoding(current.bytes) : undefined
  // A new, empty or binary file has no encoding to keep.
  if (!current || !coding) return body
  const ending = detectLineEnding(decode(current.bytes, coding))
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  return encode(withLineEnding(text, ending), coding)
}

export const edit: RunOp<'edit'> = async (context, ask, _body, cancelled) => {
  let diff: string | undefined
  let plannedHash: string | undefined
  const request = { ...ask, writeMode: 'replace' } as const
  const changed = await changeFile(context, request, async (current) => {
    if (!current) throw notFoundError(ask.at.path)
    await checkEditable(current, ask.at.path)
    const edited = await applyEdits(context, ask, current, () => yieldOrCancel(context, cancelled))
    diff = edited.diff
    plannedHash = sha256Hex(edited.bytes)
    return ask.dryRun || plannedHash === current.sha256 ? undefined : edited.bytes
  })
  return { ...changed, sha256: plannedHash ?? changed.sha256, ...(diff !== undefined && { diff }) }
}

async function applyEdits(
  context: OpContext,
  { edits, at }: OpRequest<'edit'>,
  { bytes }: CurrentFile,
  /** Can still throw: nothing is changed yet. */
  yieldNow: () => Promise<void>,
) {
  const coding = await detectEncoding(bytes)
  if (!coding) throw new FileError('not_text', 'Not a text file.', at.path)
  const text = decode(bytes, coding)
  // A wrong encoding guess would change bytes outside of the edits.
  if (!(await encode(text, coding)).equals(bytes))
    throw new FileError('not_text', 'The file cannot be read and written back unchanged.', at.path)
  let edited = text
  for (const [index, change] of edits.entries()) {
    edited = applyEdit(edited, change, index + 1)
    await yieldNow()
  }
  return {
    bytes: await encode(edited, coding),
    diff: textDiff(text, edited, displayName(context, at)),
  }
}

/** Writes an internal file in `.cowork/`, which agents can read but not write (F6). */
export const writeInternalFile: RunOp<'writeInternalFile'> = async ({ roots }, { name }, body) => {
  if (!/^[a-z][\w.-]*$/.test(name))
    throw new FileError('invalid_path', 'Not a valid internal file name.', name)
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
