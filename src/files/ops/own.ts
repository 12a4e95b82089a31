import { FileFault } from '../confine/fault.ts'
import type { RunOp } from '../worker/context.ts'
import { sync, writeAll } from './disk.ts'
import { placeOver, withTemporary } from './placing.ts'

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
