/** What comes from elsewhere is not to be run, but in Code/ (F5). */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { FileFault } from '../confine/fault.ts'
import { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from '../confine/flags.ts'
import { putRight } from '../confine/leftovers.ts'
import { O_PATH } from '../confine/pinned.ts'
import { withoutRunning } from './copying.ts'
import { eachInside } from './each-inside.ts'
import type { End } from './each-inside.ts'
import { pathOfEntry } from './folders.ts'
import { leafStat } from './leaf.ts'
import { permissionsOf } from './present.ts'

type Rest = () => Promise<void>
type ModeOf = (stat: BigIntStats) => number | undefined

type How = {
  readonly turn: Rest
  /** Throws when nobody waits for it any longer. */
  readonly rest: Rest
  /** Awaited before anything is changed. */
  readonly begin: Rest
  readonly go: Rest
}

/**
 * Goes when nothing in it can be run any more: afterwards a refusal would be untrue, and a worker that is killed
 * would leave some that can. What does not go after all is run as before.
 */
export async function goLessRunning(end: End, { turn, rest, begin, go }: How): Promise<void> {
  if (!(await canRun(end, rest))) return go()
  await begin()
  const before = new Map<bigint, number>()
  try {
    await eachFile(end, rest, (path) => {
      const was = changeMode(path, withoutRunningOf)
      if (was) before.set(was.ino, permissionsOf(was))
    })
    await go()
  } catch (error) {
    const putBack = (path: string | Buffer) => changeMode(path, ({ ino }) => before.get(ino))
    if (before.size > 0) await eachFile(end, turn, putBack).catch(() => undefined)
    throw error
  }
}

/** Whether anything in it can be run. Refuses what has a second name elsewhere, which would not be run there either. */
async function canRun(end: End, rest: Rest): Promise<boolean> {
  const links = new Map<bigint, { readonly all: bigint; names: bigint }>()
  await eachFile(end, rest, (path) => {
    const stat = leafStat(path)
    if (!stat || otherMode(stat, withoutRunningOf) === undefined) return
    const known = links.get(stat.ino) ?? { all: linksOf(path, stat), names: 0n }
    links.set(stat.ino, { ...known, names: known.names + 1n })
  })
  if ([...links.values()].some(({ all, names }) => names < all))
    throw new FileFault(
      'no_permission',
      'A program in it has a second name elsewhere, by which it could not be run any more either. Below Code/ it can go as it is.',
      end.parent.real,
    )
  return links.size > 0
}

/** Without what a crash left. */
function linksOf(path: string | Buffer, { nlink }: BigIntStats): bigint {
  if (nlink > 1n && typeof path === 'string') putRight(path)
  return nlink > 1n ? (leafStat(path)?.nlink ?? nlink) : nlink
}

/** The file itself, or all in a folder. */
async function eachFile(
  end: End,
  rest: Rest,
  visit: (path: string | Buffer) => void,
): Promise<void> {
  const { confined, parent } = end
  const path = parent.at(parent.name)
  const stat = leafStat(path)
  if (stat?.isFile()) visit(path)
  else if (stat?.isDirectory())
    await eachInside(rest, end, (fd, entry) => {
      if (entry.isFile()) visit(pathOfEntry(confined, fd, entry))
    })
}

/** Answers what it was, where that was changed. */
function changeMode(path: string | Buffer, modeOf: ModeOf): BigIntStats | undefined {
  const seen = leafStat(path)
  if (!seen || otherMode(seen, modeOf) === undefined) return undefined
  const fd = fs.openSync(path, asFile)
  try {
    const stat = fs.fstatSync(fd, { bigint: true })
    const mode = otherMode(stat, modeOf)
    if (mode === undefined) return undefined
    setMode(fd, mode)
    return stat
  } finally {
    fs.closeSync(fd)
  }
}

const withoutRunningOf: ModeOf = (stat) => withoutRunning(permissionsOf(stat))

function otherMode(stat: BigIntStats, modeOf: ModeOf): number | undefined {
  const mode = modeOf(stat)
  return stat.isFile() && mode !== permissionsOf(stat) ? mode : undefined
}

const isLinux = process.platform === 'linux'
/** What may be run and not read cannot be opened but so. */
const asFile = (isLinux ? O_PATH : O_RDONLY | O_NONBLOCK) | O_NOFOLLOW

/** By the link in /proc, since what is opened so takes no call of its own. */
const setMode = (fd: number, mode: number): void =>
  isLinux ? fs.chmodSync(`/proc/self/fd/${fd}`, mode) : fs.fchmodSync(fd, mode)
