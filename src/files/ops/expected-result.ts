/** What a change will be known by, and whether it is there: for when its worker is not (PV6). */
import type { BigIntStats } from 'node:fs'
import type { ConfinedRoot, Parent } from '../confine/types.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { ExpectedResult, RootedPath } from '../worker/protocol.ts'
import { closing, hashDescriptor, getRoot, unless } from './io.ts'
import { lstatEntry } from './regular-file.ts'

export const expectFile = (
  { root }: ConfinedRoot,
  { real }: Parent,
  stat: BigIntStats,
  answer: object,
  gone?: RootedPath,
): ExpectedResult => ({
  fingerprint: {
    at: { root: root.key, path: real },
    file: fileOf(stat),
    ...(gone && { removed: gone }),
  },
  answer,
})

/** With its time: when a file has gone, another may get its inode. */
const fileOf = ({ dev, ino, mtimeNs }: BigIntStats) => `${dev}-${ino}-${mtimeNs}`

export const verifyResult: RunOp<'verifyResult'> = async (context, sign) => {
  const { at, removed: gone } = sign
  if ('file' in sign) {
    const stat = found(context, at)
    const isThere = stat !== undefined && fileOf(stat) === sign.file
    return { isApplied: isThere && (gone === undefined || found(context, gone) === undefined) }
  }
  const { fd } = getRoot(context, at).openFile(at.path)
  using _ = closing(fd)
  return { isApplied: (await hashDescriptor(fd, context.yieldIfDue)) === sign.sha256 }
}

function found(context: OpContext, at: RootedPath): BigIntStats | undefined {
  const look = ({ entryPath: within, name }: Parent) => lstatEntry(within(name))
  const options = { need: 'read', keepLeafLink: true } as const
  // The folder that it was in may be gone as well.
  return unless(['not_found'], () => getRoot(context, at).withParent(at.path, look, options))
}
