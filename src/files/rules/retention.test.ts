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
const version = (id: string, overrides: Partial<RetainedVersion> = {}): RetainedVersion => ({
  id,
  path: '/w/a.txt',
  sha256: id,
  size: 10,
  at: 0,
  ...overrides,
})
const ids = (versions: readonly RetainedVersion[]) => versions.map(({ id }) => id).sort()

test('TR4 deletes a version when it is too old, and not before', () => {
  const kept = [version('old', { at: 0 }), version('young', { at: 1 })]
  expect(ids(selectExpiredVersions(kept, limits, 1000))).toEqual([])
  expect(ids(selectExpiredVersions(kept, limits, 1001))).toEqual(['old'])
})

test('TR4 keeps only the newest versions of a file, counted per file', () => {
  const five = [1, 2, 3, 4, 5].map((at) => version(`a${at}`, { at }))
  const other = version('b1', { path: '/w/b.txt', at: 0 })
  expect(ids(selectExpiredVersions([...five, other], limits, 5))).toEqual(['a1', 'a2'])
})

test('TR4 deletes the oldest versions over the total size, counting equal contents once', () => {
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
  // Equal hashes have equal sizes.
  .map((list) =>
    list.map((one, n) => ({ ...one, id: `v${n}`, size: one.sha256.charCodeAt(0) - 100 })),
  )

test('TR4 retained versions are within every limit and no older than deleted ones of the file', () => {
  fc.assert(
    fc.property(anyVersions, fc.nat(3000), (versions, now) => {
      const dropped = selectExpiredVersions(versions, limits, now)
      const kept = versions.filter((one) => !dropped.includes(one))
      for (const same of Map.groupBy(kept, ({ path }) => path).values())
        expect(same.length).toBeLessThanOrEqual(limits.maxPerFile)
      expect(totalBytes(kept)).toBeLessThanOrEqual(100)
      for (const { at } of kept) expect(now - at).toBeLessThanOrEqual(limits.retentionMs)
      for (const expired of dropped)
        for (const retained of kept)
          if (retained.path === expired.path) expect(retained.at).toBeGreaterThanOrEqual(expired.at)
    }),
  )
})

test('TR4 deletes a content that no version needs, even if none ever did', () => {
  const kept = [version('a'), version('b', { sha256: 'a' })]
  expect(selectUnusedContents(['a', 'b', 'never'], kept)).toEqual(['b', 'never'])
  expect(totalBytes(kept)).toBe(10)
})

test('TR4 deletes trash items after the retention time', () => {
  const items = [{ deletedAt: 0 }, { deletedAt: 500 }]
  expect(selectExpiredTrash(items, 1000, 1001)).toEqual([{ deletedAt: 0 }])
  expect(selectExpiredTrash(items, 1000, 1000)).toEqual([])
})
