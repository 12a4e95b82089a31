import { sha256Hex } from '#base/hash.ts'
import { FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Ask } from '../worker/protocol.ts'
import { changeFile } from './change.ts'
import { nameOf, pause } from './disk.ts'
import { applyEdit } from './edits.ts'
import { checkEditable, notFound } from './present.ts'
import type { Present } from './present.ts'
import { codingOf, decoded, encoded } from './text.ts'
import { textDiff } from './text-diff.ts'

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
