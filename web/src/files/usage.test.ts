import { expect, test } from 'vitest'
import { buildUsageTree, sumUsage } from './usage.ts'

const usage = {
  total_files: 9,
  total_bytes: 1500,
  folders: [
    { path: '.cowork', files: 2, bytes: 500 },
    { path: 'Code', files: 1, bytes: 200 },
    { path: 'Documents', files: 4, bytes: 700 },
    { path: 'Documents/reports', files: 3, bytes: 600 },
    { path: 'temp', files: 0, bytes: 0 },
  ],
  largest_files: [
    { path: '.cowork/index.json', bytes: 500 },
    { path: 'Code/a.py', bytes: 200 },
    { path: 'Documents/plan.md', bytes: 100 },
    { path: 'large.bin', bytes: 90 },
  ],
}

test('C5 a folder shows its folders and its largest files, the largest first, and leaves nothing out', () => {
  const { parts, bytes, files } = buildUsageTree(usage, '')
  expect(parts.map((part) => [part.kind, part.name, part.path, part.bytes])).toEqual([
    ['folder', 'Documents', 'Documents', 700],
    ['folder', 'Code', 'Code', 200],
    ['file', 'large.bin', 'large.bin', 90],
    ['rest', 'and 1 other file', '', 10],
  ])
  // Internal files of cowork do not count as usage of the agents.
  expect([bytes, files]).toEqual([1000, 7])
  expect(sumUsage(parts)).toEqual({ bytes, files })
})

test('C5 what is in each folder is shown as well', () => {
  const [documents] = buildUsageTree(usage, '').parts
  expect(documents?.parts.map((part) => [part.kind, part.name, part.path])).toEqual([
    ['folder', 'reports', 'Documents/reports'],
    ['file', 'plan.md', 'Documents/plan.md'],
  ])
})

test('C5 what is in a folder is named from the workspace on', () => {
  const [first] = buildUsageTree(usage, 'Archive/2026').parts
  expect(first).toMatchObject({ name: 'Documents', path: 'Archive/2026/Documents' })
  expect(first?.parts[1]).toMatchObject({ path: 'Archive/2026/Documents/plan.md' })
})

test('C5 many small folders and files are one part, with how many they are', () => {
  const folders = Array.from({ length: 50 }, (_, at) => ({ path: `f${at}`, files: 30, bytes: 10 }))
  const whole = { total_files: 1500, total_bytes: 500, folders, largest_files: [] }
  const { parts } = buildUsageTree(whole, '')
  expect(parts).toHaveLength(41)
  expect(parts[40]).toMatchObject({ name: 'and 300 other files', bytes: 100, files: 300 })
  const specks = [
    { path: 'large.bin', bytes: 999_000 },
    { path: 'a.txt', bytes: 10 },
  ]
  const few = { total_files: 2, total_bytes: 999_010, folders: [], largest_files: specks }
  expect(buildUsageTree(few, '').parts.map(({ name }) => name)).toEqual([
    'large.bin',
    'and 1 other file',
  ])
  const nameless = { total_files: 2000, total_bytes: 0, folders: [], largest_files: [] }
  expect(buildUsageTree(nameless, '').parts).toMatchObject([{ kind: 'rest', name: '2,000 files' }])
})
