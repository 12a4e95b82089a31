import fs from 'node:fs'
import { basename, join } from 'node:path'
import { checkRisk, statOf } from '../confine/checks.ts'
import type { OpenedFile, Parent } from '../confine/types.ts'
import type { RunOp } from '../worker/context.ts'
import { copyContent, mayRun, withoutRunning } from './copying.ts'
import { rootOf, syncFolder } from './disk.ts'
import { actInTurn, pathOfEnd } from './in-turn.ts'
import { outlookOf } from './outlook.ts'
import { isFree, placeAtFree, withTemporary } from './placing.ts'
import { exists, permissionsOf, tooLarge } from './present.ts'

type Way = { readonly file: OpenedFile; readonly parent: Parent }

export const copy: RunOp<'copy'> = async (context, { from, to, reviewed = false }) => {
  const source = rootOf(context, from)
  const target = rootOf(context, to)
  const pathOf = ({ real }: OpenedFile) => join(source.root.path, real)

  function check(file: OpenedFile): void {
    const { maxFileBytes } = context.limits
    if (file.stat.size > BigInt(maxFileBytes)) throw tooLarge(maxFileBytes, from.path)
    const path = pathOf(file)
    // Under a plain name it would be found, shown and sent like any text (PV5).
    if (!reviewed && context.guard.isSensitive(path)) checkRisk(context.guard.risk(path), from.path)
  }

  async function walk<T>(use: (way: Way) => Promise<T>): Promise<T> {
    const file = source.openFile(from.path)
    try {
      // What is not copied makes no folder either.
      check(file)
      return await target.withParent(to.path, (parent) => use({ file, parent }), {
        need: 'create',
        parents: true,
        reviewed,
        keepLeafLink: true,
      })
    } finally {
      fs.closeSync(file.fd)
    }
  }

  async function act({ file, parent }: Way) {
    if (!isFree(parent.at(parent.name))) throw exists(to.path)
    const mode = permissionsOf(file.stat)
    const content = { ...file, name: basename(pathOf(file)) }
    const copied = await withTemporary(parent, 0o600, async (temporary) => {
      const size = Number(file.stat.size)
      const tell = (bytes: number) => context.progress(bytes, size)
      const sha256 = await copyContent(content, temporary.fd, context.turn, tell)
      fs.fchmodSync(temporary.fd, mayRun(target, parent.real) ? mode : withoutRunning(mode))
      const stat = fs.fstatSync(temporary.fd, { bigint: true })
      const answer = { sha256, real: parent.real, stat: statOf(stat) }
      await context.entered(outlookOf(target, parent, stat, answer))
      placeAtFree(temporary, parent.at(parent.name))
      return answer
    })
    await syncFolder(parent.at('.'))
    return copied
  }

  // Of the file that is copied none is taken: it is open, and a copy of what was changed meanwhile is refused.
  return actInTurn(walk, ({ parent }) => [pathOfEnd({ confined: target, parent })], act)
}
