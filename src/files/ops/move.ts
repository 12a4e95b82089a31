import type { BigIntStats } from 'node:fs'
import { join } from 'node:path/posix'
import { statOf } from '../confine/checks.ts'
import { FileFault } from '../confine/fault.ts'
import type { Parent } from '../confine/types.ts'
import type { RunOp } from '../worker/context.ts'
import type { Answered, Place } from '../worker/protocol.ts'
import { inTurn, rootOf } from './disk.ts'
import { leafStat } from './leaf.ts'
import { notFound } from './present.ts'
import { transfer } from './transfer.ts'

export const move: RunOp<'move'> = async (
  context,
  { from, to, reviewed = false },
  _body,
  cancelled,
) => {
  checkNotInside(from, to)
  const [source, target] = [rootOf(context, from), rootOf(context, to)]
  const walk = (use: (away: Parent, parent: Parent) => Promise<Answered<'move'>>) =>
    source.withParent(
      from.path,
      (away) => {
        // Nothing is moved, then no folder is made for it either.
        if (!leafStat(away.at(away.name))) throw notFound(from.path)
        return target.withParent(to.path, (parent) => use(away, parent), {
          need: 'create',
          parents: true,
          reviewed,
          keepLeafLink: true,
        })
      },
      { need: 'write', reviewed, keepLeafLink: true },
    )
  const act = async (away: Parent, parent: Parent) => {
    checkNotInside({ ...from, path: away.real }, { ...to, path: parent.real })
    const answer = (stat: BigIntStats) => ({
      stat: statOf(stat),
      from: away.real,
      to: parent.real,
    })
    const ends = [
      { confined: source, parent: away },
      { confined: target, parent },
    ] as const
    return answer(await transfer(context, ...ends, { reviewed, cancelled, answer }))
  }
  return walk((away, parent) =>
    inTurn([join(source.root.path, away.real), join(target.root.path, parent.real)], (hasWaited) =>
      hasWaited ? walk(act) : act(away, parent),
    ),
  )
}

function checkNotInside(from: Place, to: Place): void {
  if (from.root === to.root && to.path.startsWith(`${from.path}/`))
    throw new FileFault('invalid_path', 'A folder cannot be moved into itself.', to.path)
}
