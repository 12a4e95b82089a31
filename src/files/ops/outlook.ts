/** What a change will be known by, and whether it is there: for when its worker is not (PV6). */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import type { Confined, Parent } from '../confine/types.ts'
import type { RunOp } from '../worker/context.ts'
import type { Outlook } from '../worker/protocol.ts'
import { hashOf, rootOf } from './disk.ts'
import { leafStat } from './leaf.ts'

/** This very file comes to stand there, and the answer is then that. */
export const outlookOf = (
  { root }: Confined,
  { real }: Parent,
  stat: BigIntStats,
  answer: object,
): Outlook => ({ sign: { at: { root: root.key, path: real }, file: fileOf(stat) }, answer })

/** With its time: when a file has gone, another may get its inode. */
const fileOf = ({ dev, ino, mtimeNs }: BigIntStats) => `${dev}-${ino}-${mtimeNs}`

export const seen: RunOp<'seen'> = async (context, sign) => {
  const { at } = sign
  const confined = rootOf(context, at)
  if ('file' in sign) {
    const look = ({ at: within, name }: Parent) => leafStat(within(name))
    const stat = confined.withParent(at.path, look, { need: 'read', keepLeafLink: true })
    return { isSeen: stat !== undefined && fileOf(stat) === sign.file }
  }
  const { fd } = confined.openFile(at.path)
  try {
    return { isSeen: (await hashOf(fd, context.turn)) === sign.sha256 }
  } finally {
    fs.closeSync(fd)
  }
}
