/**
 * What a crash left of a file that was coming to its name. While that happens a file has an unfinished name
 * beside its own: whoever finds both later knows whose work it was, and how far it came.
 */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path'
import { isTempName } from './temp-name.ts'

/** Of an empty file or folder that holds a name for what is to be moved there. Nobody else makes one like it. */
export const placeholderMode = 0o200

/** Another worker may be at it in this moment; it does not wait in between, so this is long. */
const inUseMs = 1000

const lstat = (path: string) => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
const isSame = (one: BigIntStats | undefined, other: BigIntStats) =>
  one?.ino === other.ino && one.dev === other.dev

/**
 * Takes the second name from a file that only has it because of a crash (PV3): an unfinished one in its folder,
 * and a backup of a change that did not come. A placeholder goes altogether. Names that others gave stay.
 */
export function cleanUpAfterCrash(path: string): void {
  try {
    unlinkLeftovers(path)
  } catch {
    // Gone by now, or not ours to look at: it stays as it is.
  }
}

function unlinkLeftovers(path: string): void {
  const stat = lstat(path)
  if (stat?.isDirectory()) return removePlaceholder(path, stat)
  if (!stat?.isFile() || stat.nlink < 2n || Date.now() - Number(stat.ctimeMs) < inUseMs) return
  const folder = dirname(path)
  if (!listTempNames(folder).some((name) => isSame(lstat(join(folder, name)), stat))) return
  const names = fs.readdirSync(folder).filter((name) => isSame(lstat(join(folder, name)), stat))
  const shown = names.filter((name) => !isTempName(name))
  const isPlaceholder = stat.size === 0n && hasPlaceholderMode(stat)
  const over = isPlaceholder ? shown : shown.filter((name) => isBackupOf(name, shown))
  // The unfinished names last: without them nobody would know.
  for (const name of [...over, ...names.filter(isTempName)]) fs.unlinkSync(join(folder, name))
}

const hasPlaceholderMode = ({ mode }: BigIntStats) => (Number(mode) & 0o777) === placeholderMode

/** Only an empty folder can be removed so. */
function removePlaceholder(path: string, stat: BigIntStats): void {
  if (hasPlaceholderMode(stat) && Date.now() - Number(stat.mtimeMs) > inUseMs) fs.rmdirSync(path)
}

const isBackupOf = (name: string, others: readonly string[]) =>
  others.some((other) =>
    /^\.bak(\.\d+)?$/.test(name.startsWith(other) ? name.slice(other.length) : ''),
  )

/** The folder that was looked through last, and had none: a tree of linked files is not looked through for each. */
let lastCleanFolder = ''

function listTempNames(folder: string): string[] {
  const { dev, ino, mtimeNs } = fs.statSync(folder, { bigint: true })
  const key = `${dev}:${ino}:${mtimeNs}`
  if (key === lastCleanFolder) return []
  const names = fs.readdirSync(folder).filter(isTempName)
  if (names.length === 0) lastCleanFolder = key
  return names
}
