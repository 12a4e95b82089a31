/** Announces the result of a change and verifies it when the worker died (PV6). */
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
  removed?: RootedPath,
): ExpectedResult => ({
  fingerprint: {
    at: { root: root.key, path: real },
    file: fileFingerprint(stat),
    ...(removed && { removed }),
  },
  answer,
})

/** Includes the modification time, because inode numbers are reused. */
const fileFingerprint = ({ dev, ino, mtimeNs }: BigIntStats) => `${dev}-${ino}-${mtimeNs}`

export const verifyResult: RunOp<'verifyResult'> = async (context, fingerprint) => {
  const { at, removed } = fingerprint
  if ('file' in fingerprint) {
    const stat = findEntry(context, at)
    const isThere = stat !== undefined && fileFingerprint(stat) === fingerprint.file
    return {
      isApplied: isThere && (removed === undefined || findEntry(context, removed) === undefined),
    }
  }
  const { fd } = getRoot(context, at).openFile(at.path)
  using _ = closing(fd)
  return { isApplied: (await hashDescriptor(fd, context.yieldIfDue)) === fingerprint.sha256 }
}

function findEntry(context: OpContext, at: RootedPath): BigIntStats | undefined {
  const lookUp = ({ entryPath, name }: Parent) => lstatEntry(entryPath(name))
  const options = { need: 'read', keepLeafLink: true } as const
  // The parent folder may be missing too.
  return unless(['not_found'], () => getRoot(context, at).withParent(at.path, lookUp, options))
}
