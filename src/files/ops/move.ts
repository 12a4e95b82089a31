import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { checkArrival, statOf } from '../confine/checks.ts'
import { errnoOf, faultOf, FileFault } from '../confine/fault.ts'
import type { OpContext, RunOp } from '../worker/context.ts'
import type { Place } from '../worker/protocol.ts'
import type { Confined } from '../confine/types.ts'
import { unfinishedName } from '../confine/unfinished.ts'
import { pause, rootOf, syncFolder } from './disk.ts'
import { eachInside, removeTree } from './tree.ts'
import type { End } from './tree.ts'
import { actInTurn, pathOfEnd } from './in-turn.ts'
import { leafStat } from './leaf.ts'
import { exists, notFound, permissionsOf } from './present.ts'
import { copyTree, mayRun, withoutRunning } from './copy.ts'
import { pathOfEntry } from './folders.ts'
import { outlookOf } from './outlook.ts'
import { isFree, renameFolderToFree, renameToFree, unlinkIfThere } from './placing.ts'

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

export type Leave = {
  /** Trust or a person has looked at where it goes. */
  readonly reviewed?: boolean
  readonly origin?: string | undefined
  /** Nobody waits any longer: a copy that is not whole is given up. */
  cancelled?(): boolean
  answer(stat: BigIntStats): object
}

/** Moves by a rename or, to another disk, by a copy that is verified before the original is removed. */
export async function transfer(
  context: OpContext,
  from: End,
  to: End,
  leave: Leave,
): Promise<BigIntStats> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = leafStat(source)
  if (!stat) throw notFound(from.parent.real)
  if (stat.isDirectory()) await checkInside(context, from, to, leave)
  if (!isFree(target)) throw exists(to.parent.real)
  const isOtherDisk = stat.dev !== leafStat(to.parent.at('.'))?.dev
  // A copy never has the execute bit, not even after a crash; a rename would have it for a moment.
  const needsCopy =
    isOtherDisk || (!keepsRunning(from, to) && (await hasProgram(from, restOf(context, leave))))
  await (needsCopy ? transferByCopy : transferByRename)(context, from, to, leave)
  await Promise.all([syncFolder(to.parent.at('.')), syncFolder(from.parent.at('.'))])
  return leafStat(target) ?? stat
}

const pathOf = ({ parent }: End) => parent.at(parent.name)

const restOf =
  (context: OpContext, { cancelled = () => false }: Leave) =>
  () =>
    pause(context, cancelled)

const foretell = (
  context: OpContext,
  to: End,
  stat: BigIntStats,
  { answer }: Leave,
  gone?: Place,
) => context.entered(outlookOf(to.confined, to.parent, stat, answer(stat), gone))

async function transferByRename(
  context: OpContext,
  from: End,
  to: End,
  leave: Leave,
): Promise<void> {
  const [source, target] = [pathOf(from), pathOf(to)]
  const stat = leafStat(source)
  if (!stat) throw notFound(from.parent.real)
  await foretell(context, to, stat, leave)
  try {
    // A folder of the trash is new and ours alone: nothing has to hold the name there.
    if (isOwn(to.confined)) fs.renameSync(source, target)
    else if (stat.isDirectory()) renameFolderToFree(source, target)
    else renameToFree(source, target)
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    await transferByCopy(context, from, to, leave)
  }
}

async function transferByCopy(context: OpContext, from: End, to: End, leave: Leave): Promise<void> {
  const gone = { root: from.confined.root.key, path: from.parent.real }
  const copied = await copyTree(context, from, to, {
    rest: restOf(context, leave),
    modeOf: keepsRunning(from, to) ? (mode) => mode : withoutRunning,
    // Not before: what was cut off until then has done nothing, and is begun anew.
    whole: (stat) => foretell(context, to, stat, leave, gone),
  })
  await syncFolder(to.parent.at('.'))
  const source = pathOf(from)
  // At once, since half of a thing would be listed and restored for the whole. Whoever restores it clears up.
  if (isOwn(from.confined)) return fs.renameSync(source, from.parent.at(unfinishedName()))
  try {
    await removeTree(from.confined, from.parent, context.turn, copied.check)
  } catch (error) {
    const left = leafStat(source)
    if (left?.isDirectory()) throw partlyMoved(faultOf(error), from.parent.real)
    // It is whole where it was. One that is gone all the same was moved.
    if (!left) return
    unlinkIfThere(pathOf(to))
    throw error
  }
}

/** Some of the old files may be gone by now, so the copy is not taken away again. */
function partlyMoved({ code, cause }: FileFault, path: string): FileFault {
  const why = code === 'stale' ? 'was changed while it was moved' : 'could not be removed'
  return new FileFault(
    code,
    `Something in the folder ${why}. The copy is whole; what is left of the folder stands where it was.`,
    path,
    cause,
  )
}

/** A folder is not carried away with what is closed in it or may not stand where it goes, nor with another disk (PV4, F5, PV9). */
async function checkInside(
  context: OpContext,
  from: End,
  to: End,
  { reviewed = false, origin = absolute(from) }: Leave,
): Promise<void> {
  const { guard } = context
  const target = absolute(to)
  const { confined, parent } = from
  await eachInside(context.turn, from, (_fd, entry, path) => {
    const inner = path.slice(parent.real.length)
    const before = `${origin}${inner}`
    if (!isOwn(confined) && guard.forbidden(before, 'write'))
      throw new FileFault('forbidden_path', 'Something in the folder is closed.', parent.real)
    if (isOwn(to.confined)) return
    const ends = { from: before, to: `${target}${inner}`, isFolder: entry.isDirectory() }
    checkArrival(guard, ends, reviewed, path)
  })
}

async function hasProgram(end: End, rest: () => Promise<void>): Promise<boolean> {
  const stat = leafStat(pathOf(end))
  if (!stat?.isDirectory()) return isProgram(stat)
  let isFound = false
  await eachInside(rest, end, (fd, entry) => {
    isFound ||= entry.isFile() && isProgram(leafStat(pathOfEntry(end.confined, fd, entry)))
  })
  return isFound
}

const isProgram = (stat: BigIntStats | undefined): boolean =>
  stat?.isFile() === true && permissionsOf(stat) !== withoutRunning(permissionsOf(stat))

const isOwn = ({ root }: Confined) => root.key === 'trash'

const absolute = ({ confined, parent }: End) => `${confined.root.path}/${parent.real}`

/** In the trash nothing is run; a person's own folder is theirs, and what only moves in it is as it was. */
const keepsRunning = (from: End, to: End): boolean =>
  isOwn(to.confined) ||
  mayRun(to.confined, to.parent.real) ||
  (to.confined.root.key !== 'workspace' && from.confined.root.key === to.confined.root.key)
