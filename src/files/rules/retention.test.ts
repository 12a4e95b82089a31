import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  totalBytes,
  selectUnusedContents,
  selectExpiredTrash,
  selectExpiredVersions,
} from './retention.ts'
import type { RetainedVersion } from './retention.ts'

const limits = { retentionMs: 1000, maxPerFile: 3, maxBytes: 100 }
const version = (id: string, more: Partial<RetainedVersion> = {}): RetainedVersion => ({
  id,
  path: '/w/a.txt',
  sha256: id,
  size: 10,
  at: 0,
  ...more,
})
const ids = (versions: readonly RetainedVersion[]) => versions.map(({ id }) => id).sort()

test('TR4 a version goes when it is too old, and not a moment before', () => {
  const kept = [version('old', { at: 0 }), version('young', { at: 1 })]
  expect(ids(selectExpiredVersions(kept, limits, 1000))).toEqual([])
  expect(ids(selectExpiredVersions(kept, limits, 1001))).toEqual(['old'])
})

test('TR4 of one file only the newest stay, others’ count for themselves', () => {
  const five = [1, 2, 3, 4, 5].map((at) => version(`a${at}`, { at }))
  const other = version('b1', { path: '/w/b.txt', at: 0 })
  expect(ids(selectExpiredVersions([...five, other], limits, 5))).toEqual(['a1', 'a2'])
})

test('TR4 beyond the size of all together the oldest go, equal contents counted once', () => {
  const big = [1, 2, 3].map((at) => version(`v${at}`, { path: `/w/${at}`, at, size: 50 }))
  expect(ids(selectExpiredVersions(big, limits, 3))).toEqual(['v1'])
  const same = big.map((one) => ({ ...one, sha256: 'same' }))
  expect(ids(selectExpiredVersions(same, limits, 3))).toEqual([])
})

const anyVersions = fc
  .array(
    fc.record({
      path: fc.constantFrom('/w/a', '/w/b', '/w/c'),
      sha256: fc.constantFrom('x', 'y', 'z', 'q'),
      size: fc.nat(60),
      at: fc.nat(2000),
    }),
    { maxLength: 40 },
  )
  // One content has one size.
  .map((list) =>
    list.map((one, n) => ({ ...one, id: `v${n}`, size: one.sha256.charCodeAt(0) - 100 })),
  )

test('TR4 what stays is within every limit, and what goes is never newer than what stays of its file', () => {
  fc.assert(
    fc.property(anyVersions, fc.nat(3000), (versions, now) => {
      const dropped = selectExpiredVersions(versions, limits, now)
      const kept = versions.filter((one) => !dropped.includes(one))
      for (const same of Map.groupBy(kept, ({ path }) => path).values())
        expect(same.length).toBeLessThanOrEqual(limits.maxPerFile)
      expect(totalBytes(kept)).toBeLessThanOrEqual(100)
      for (const { at } of kept) expect(now - at).toBeLessThanOrEqual(limits.retentionMs)
      for (const gone of dropped)
        for (const stays of kept)
          if (stays.path === gone.path) expect(stays.at).toBeGreaterThanOrEqual(gone.at)
    }),
  )
})

test('TR4 a content goes when no version needs it, also one that none ever named', () => {
  const kept = [version('a'), version('b', { sha256: 'a' })]
  expect(selectUnusedContents(['a', 'b', 'never'], kept)).toEqual(['b', 'never'])
  expect(totalBytes(kept)).toBe(10)
})

test('TR4 deleted files go after their time', () => {
  const items = [{ deletedAt: 0 }, { deletedAt: 500 }]
  expect(selectExpiredTrash(items, 1000, 1001)).toEqual([{ deletedAt: 0 }])
  expect(selectExpiredTrash(items, 1000, 1000)).toEqual([])
})
