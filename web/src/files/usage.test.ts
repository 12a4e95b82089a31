import { expect, test } from 'vitest'
import { partsOf } from './usage.ts'

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
}

test('C5 a folder shows its folders and its own files, the largest first, and leaves nothing out', () => {
  const { parts, bytes, files } = partsOf(usage, '')
  expect(parts.map((part) => [part.name, part.path, part.bytes])).toEqual([
    ['Documents', 'Documents', 700],
    ['Code', 'Code', 200],
    ['Files here', undefined, 100],
  ])
  // What cowork keeps there itself takes no room of the agents.
  expect([bytes, files]).toEqual([1000, 7])
  expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(bytes)
  expect(parts.reduce((sum, part) => sum + part.files, 0)).toBe(files)
})

test('C5 what is in a folder is named from the workspace on', () => {
  const [first] = partsOf(usage, 'Archive/2026').parts
  expect(first).toMatchObject({ name: 'Documents', path: 'Archive/2026/Documents' })
})

test('C5 many small folders are one part', () => {
  const folders = Array.from({ length: 50 }, (_, at) => ({ path: `f${at}`, files: 1, bytes: 10 }))
  const { parts } = partsOf({ total_files: 50, total_bytes: 500, folders }, '')
  expect(parts.length).toBe(41)
  expect(parts[0]).toEqual({ name: 'Smaller folders', path: undefined, bytes: 100, files: 10 })
})
