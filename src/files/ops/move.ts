import type { BigIntStats } from 'node:fs'
import { statOf } from '../confine/checks.ts'
import { FileFault } from '../confine/fault.ts'
import type { RunOp } from '../worker/context.ts'
import type { Place } from '../worker/protocol.ts'
import { rootOf } from './disk.ts'
import type { End } from './each-inside.ts'
import { actInTurn, pathOfEnd } from './in-turn.ts'
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
  const walk = <T>(use: (ends: readonly [End, End]) => Promise<T>) =>
    source.withParent(
      from.path,
      (away) => {
        // Nothing is moved, then no folder is made for it either.
        if (!leafStat(away.at(away.name))) throw notFound(from.path)
        return target.withParent(
          to.path,
          (parent) =>
            use([
              { confined: source, parent: away },
              { confined: target, parent },
            ]),
          { need: 'create', parents: true, reviewed, keepLeafLink: true },
        )
      },
      { need: 'write', reviewed, keepLeafLink: true },
    )
  return actInTurn(
    walk,
    (ends) => ends.map(pathOfEnd),
    async (ends) => {
      const [away, parent] = [ends[0].parent.real, ends[1].parent.real]
      checkNotInside({ ...from, path: away }, { ...to, path: parent })
      const answer = (stat: BigIntStats) => ({ stat: statOf(stat), from: away, to: parent })
      return answer(await transfer(context, ...ends, { reviewed, cancelled, answer }))
    },
  )
}

function checkNotInside(from: Place, to: Place): void {
  if (from.root === to.root && to.path.startsWith(`${from.path}/`))
    throw new FileFault('invalid_path', 'A folder cannot be moved into itself.', to.path)
}
