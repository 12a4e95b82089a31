import { expect, test } from 'vitest'
import { formatFileTable } from './files.ts'

test('FT3 a file list shows a dash for a missing size or time', () => {
  const lines = formatFileTable([
    { name: 'notes/', type: 'directory', modified_at: '2026-03-02T09:57:00Z' },
    { name: 'plan.md', type: 'file', size_bytes: 12, modified_at: '2026-03-02T10:00:00Z' },
    { name: 'names-only.md', type: 'file' },
  ])
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ['SIZE', 'CHANGED', 'NAME'],
    ['-', '2026-03-02 09:57', 'notes/'],
    ['12 B', '2026-03-02 10:00', 'plan.md'],
    ['-', '-', 'names-only.md'],
  ])
})
