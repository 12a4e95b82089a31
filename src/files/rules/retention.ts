/** Selects expired versions and trash items (TR4). Pure: the time is an argument. */

import type { Version } from '../history-store.ts'

export type RetainedVersion = Pick<Version, 'id' | 'path' | 'sha256' | 'size' | 'at'>

export type VersionLimits = {
  readonly retentionMs: number
  readonly maxPerFile: number
  readonly maxBytes: number
}

/**
 * Selects the versions to delete: too old, too many of one file, or over the total size, oldest first. Equal contents
 * are stored once, so their size counts once while any version needs it.
 */
export function selectExpiredVersions(
  versions: readonly RetainedVersion[],
  limits: VersionLimits,
  now: number,
): readonly RetainedVersion[] {
  const newestFirst = versions.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const countByPath = new Map<string, number>()
  const countedHashes = new Set<string>()
  let bytes = 0
  let isFull = false
  return newestFirst.filter(({ path, sha256, size, at }) => {
    const count = (countByPath.get(path) ?? 0) + 1
    if (now - at > limits.retentionMs || count > limits.maxPerFile || isFull) return true
    const addedBytes = countedHashes.has(sha256) ? 0 : size
    // Older versions are deleted too; otherwise undo would have gaps.
    if (bytes + addedBytes > limits.maxBytes) return (isFull = true)
    bytes += addedBytes
    countedHashes.add(sha256)
    countByPath.set(path, count)
    return false
  })
}

export function selectUnusedContents(
  storedHashes: readonly string[],
  kept: readonly Pick<RetainedVersion, 'sha256'>[],
): readonly string[] {
  const needed = new Set(kept.map(({ sha256 }) => sha256))
  return storedHashes.filter((sha256) => !needed.has(sha256))
}

/** Counts equal contents once, as they are stored. */
export const totalBytes = (kept: readonly RetainedVersion[]): number =>
  [...new Map(kept.map(({ sha256, size }) => [sha256, size])).values()].reduce(
    (sum, size) => sum + size,
    0,
  )

export const selectExpiredTrash = <T extends { readonly deletedAt: number }>(
  items: readonly T[],
  retentionMs: number,
  now: number,
): readonly T[] => items.filter(({ deletedAt }) => now - deletedAt > retentionMs)
