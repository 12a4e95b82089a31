import fs from 'node:fs'
import { basename, join } from 'node:path'
import { checkRisk, statOf } from '../confine/checks.ts'
import type { RunOp } from '../worker/context.ts'
import { copyContent, mayRun, withoutRunning } from './copying.ts'
import { rootOf, syncFolder } from './disk.ts'
import { outlookOf } from './outlook.ts'
import { isFree, placeAtFree, withTemporary } from './placing.ts'
import { exists, permissionsOf, tooLarge } from './present.ts'

export const copy: RunOp<'copy'> = async (context, { from, to, reviewed = false }) => {
  const source = rootOf(context, from)
  const target = rootOf(context, to)
  const file = source.openFile(from.path)
  try {
    const { maxFileBytes } = context.limits
    if (file.stat.size > BigInt(maxFileBytes)) throw tooLarge(maxFileBytes, from.path)
    const path = join(source.root.path, file.real)
    // Under a plain name it would be found, shown and sent like any text (PV5).
    if (!reviewed && context.guard.isSensitive(path)) checkRisk(context.guard.risk(path), from.path)
    const name = basename(path)
    return await target.withParent(
      to.path,
      async (parent) => {
        if (!isFree(parent.at(parent.name))) throw exists(to.path)
        const mode = permissionsOf(file.stat)
        const copied = await withTemporary(parent, 0o600, async (temporary) => {
          const sha256 = await copyContent({ ...file, name }, temporary.fd, context.turn)
          fs.fchmodSync(temporary.fd, mayRun(target, parent.real) ? mode : withoutRunning(mode))
          const stat = fs.fstatSync(temporary.fd, { bigint: true })
          const answer = { sha256, real: parent.real, stat: statOf(stat) }
          await context.entered(outlookOf(target, parent, stat, answer))
          placeAtFree(temporary, parent.at(parent.name))
          return answer
        })
        await syncFolder(parent.at('.'))
        return copied
      },
      { need: 'create', parents: true, reviewed, keepLeafLink: true },
    )
  } finally {
    fs.closeSync(file.fd)
  }
}
