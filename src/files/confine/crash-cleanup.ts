/**
 * Removes what a crash left while a file was published. During publishing, the file has a temporary name beside
 * its final name; finding both later shows that the operation was ours and how far it got.
 */
import fs from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path'
import { isTempName } from './temp-name.ts'

/** Mode of an empty file or folder that reserves the name of a move destination. No other program creates this mode. */
export const placeholderMode = 0o200

/** Another worker may be publishing the file at this moment, which takes far less than this. */
const inUseMs = 1000

const lstat = (path: string) => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
const isSame = (left: BigIntStats | undefined, right: BigIntStats) =>
  left?.ino === right.ino && left.dev === right.dev

/**
 * Removes the second link of a file if a crash caused it (PV3): a temporary name in the same folder, or the backup
 * of a change that was never made. Removes a placeholder entirely. Keeps links that other programs made.
 */
export function cleanUpAfterCrash(path: string): void {
  try {
    unlinkLeftovers(path)
  } catch {
    // The file is gone or not accessible: leave it unchanged.
  }
}

function unlinkLeftovers(path: string): void {
  const stat = lstat(path)
  if (stat?.isDirectory()) return removePlaceholder(path, stat)
  if (!stat?.isFile() || stat.nlink < 2n || Date.now() - Number(stat.ctimeMs) < inUseMs) return
  const folder = dirname(path)
  if (!listTempNames(folder).some((name) => isSame(lstat(join(folder, name)), stat))) return
  const names = fs.readdirSync(folder).filter((name) => isSame(lstat(join(folder, name)), stat))
  const visibleNames = names.filter((name) => !isTempName(name))
  const isPlaceholder = stat.size === 0n && hasPlaceholderMode(stat)
  const leftovers = isPlaceholder
    ? visibleNames
    : visibleNames.filter((name) => isBackupOf(name, visibleNames))
  // Temporary names go last, because they are the evidence that the crash was ours.
  for (const name of [...leftovers, ...names.filter(isTempName)]) fs.unlinkSync(join(folder, name))
}

const hasPlaceholderMode = ({ mode }: BigIntStats) => (Number(mode) & 0o777) === placeholderMode

/** rmdir removes only an empty folder. */
function removePlaceholder(path: string, stat: BigIntStats): void {
  if (hasPlaceholderMode(stat) && Date.now() - Number(stat.mtimeMs) > inUseMs) fs.rmdirSync(path)
}

const isBackupOf = (name: string, others: readonly string[]) =>
  others.some((other) =>
    /^\.bak(\.\d+)?$/.test(name.startsWith(other) ? name.slice(other.length) : ''),
  )

/** Identity of the last folder without temporary names, so a tree of hard links is not scanned once per file. */
let lastCleanFolder = ''

function listTempNames(folder: string): string[] {
  const { dev, ino, mtimeNs } = fs.statSync(folder, { bigint: true })
  const key = `${dev}:${ino}:${mtimeNs}`
  if (key === lastCleanFolder) return []
  const names = fs.readdirSync(folder).filter(isTempName)
  if (names.length === 0) lastCleanFolder = key
  return names
}
