import { statOf } from '../confine/checks.ts'
import { FileFault } from '../confine/fault.ts'
import type { RunOp } from '../worker/context.ts'
import type { Place } from '../worker/protocol.ts'
import { rootOf } from './disk.ts'
import { leafStat } from './leaf.ts'
import { notFound } from './present.ts'
import { transfer } from './transfer.ts'

export const move: RunOp<'move'> = async (context, { from, to, reviewed = false }) => {
  checkNotInside(from, to)
  const [source, target] = [rootOf(context, from), rootOf(context, to)]
  return source.withParent(
    from.path,
    (away) => {
      // Nothing is moved, then no folder is made for it either.
      if (!leafStat(away.at(away.name))) throw notFound(from.path)
      return target.withParent(
        to.path,
        async (parent) => {
          checkNotInside({ ...from, path: away.real }, { ...to, path: parent.real })
          const ends = [
            { confined: source, parent: away },
            { confined: target, parent },
          ] as const
          const stat = statOf(await transfer(context, ...ends, { reviewed }))
          return { stat, from: away.real, to: parent.real }
        },
        { need: 'create', parents: true, reviewed, keepLeafLink: true },
      )
    },
    { need: 'write', reviewed, keepLeafLink: true },
  )
}

function checkNotInside(from: Place, to: Place): void {
  if (from.root === to.root && to.path.startsWith(`${from.path}/`))
    throw new FileFault('invalid_path', 'A folder cannot be moved into itself.', to.path)
}
