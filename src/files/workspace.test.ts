import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '#base/log.ts'
import { importFileOpsWorkspace } from './fileops-import.ts'
import { markRecorded, prepareWorkspace } from './workspace.ts'

const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'cowork-workspace-')))
const structure = ['Documents/notes/', 'Code/bash/', 'temp/']
const prepare = (path: string, more: { create_if_missing?: boolean; structure?: string[] } = {}) =>
  prepareWorkspace({ path, create_if_missing: true, structure, ...more }, silentLog)

test('F1 the workspace is made with its structure, and found again as it is', () => {
  const path = join(newFolder(), 'AI-Workspace')
  const made = prepare(path)
  expect(made).toMatchObject({ path, internalFolder: join(path, '.cowork'), isNew: true })
  expect(readdirSync(path).sort()).toEqual(['.cowork', 'Code', 'Documents', 'temp'])
  expect(existsSync(join(path, 'Code', 'bash'))).toBe(true)
  expect(lstatSync(made.trash).mode & 0o777).toBe(0o700)
  markRecorded(made)
  expect(readdirSync(made.internalFolder)).toEqual(['trash'])
  // A folder that a person removed is not created again.
  const other = ['Research/']
  expect(prepare(path, { structure: other })).toMatchObject({ isNew: false })
  expect(existsSync(join(path, 'Research'))).toBe(false)
})

test('F1 a first start that ended before the workspace was on record is made good by the next', () => {
  const path = join(newFolder(), 'AI-Workspace')
  prepare(path, { structure: [] })
  expect(prepare(path)).toMatchObject({ isNew: true })
  expect(readdirSync(path).sort()).toEqual(['.cowork', 'Code', 'Documents', 'temp'])
})

test('F1 where it may not be made the start is refused with the remedy', () => {
  const path = join(newFolder(), 'missing')
  expect(() => prepare(path, { create_if_missing: false })).toThrow(
    expect.objectContaining({
      code: 'workspace_missing',
      hint: expect.stringContaining('workspace.create_if_missing'),
    }),
  )
  expect(existsSync(path)).toBe(false)
})

test('F1 a workspace that is a file, or below one, is refused', () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, 'mine')
  for (const path of [file, join(file, 'below')])
    expect(() => prepare(path), path).toThrow(
      expect.objectContaining({ code: 'workspace_unusable', hint: expect.any(String) }),
    )
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('TR2 a link in place of what cowork keeps there is refused, and nothing is made behind it', () => {
  const [path, elsewhere] = [newFolder(), newFolder()]
  symlinkSync(elsewhere, join(path, '.cowork'))
  expect(() => prepare(path)).toThrow(expect.objectContaining({ code: 'workspace_unusable' }))
  const other = newFolder()
  mkdirSync(join(other, '.cowork'))
  symlinkSync(elsewhere, join(other, '.cowork', 'trash'))
  expect(() => prepare(other)).toThrow(expect.objectContaining({ code: 'workspace_unusable' }))
  expect(readdirSync(elsewhere)).toEqual([])
})

test('F1 a link in the structure is left alone: nothing is made where it leads', () => {
  const [path, elsewhere] = [newFolder(), newFolder()]
  symlinkSync(elsewhere, join(path, 'Documents'))
  prepare(path)
  expect(readdirSync(elsewhere)).toEqual([])
  expect(existsSync(join(path, 'temp'))).toBe(true)
})

test('F1 the path behind a link is the workspace, the link is remembered', () => {
  const real = newFolder()
  const given = join(newFolder(), 'link')
  symlinkSync(real, given)
  expect(prepare(given)).toMatchObject({ path: real, configuredPath: given })
})

test('F6 an existing .fileops is imported: makers are known, its log is kept', () => {
  const path = newFolder()
  mkdirSync(join(path, '.fileops'))
  const index = {
    files: [
      { path: 'Documents/a.md', size: 3, created_by: 'main', created_at: '2026-02-01T10:30:00Z' },
      { path: '../outside', created_by: 'main' },
      { path: '/etc/passwd', created_by: 'main' },
      { path: 'nobody.md' },
    ],
  }
  writeFileSync(join(path, '.fileops', 'index.json'), JSON.stringify(index))
  writeFileSync(join(path, '.fileops', 'audit.log'), '{"operation":"read_file"}\n{"x":1}\n')
  const workspace = prepare(path)
  expect(importFileOpsWorkspace(workspace, silentLog)).toEqual({
    made: [
      { path: join(path, 'Documents/a.md'), by: 'main', at: Date.parse('2026-02-01T10:30:00Z') },
    ],
    audit: { lines: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  expect(readFileSync(join(workspace.internalFolder, 'fileops-audit.log'), 'utf8')).toContain(
    'read_file',
  )
})

test('F6 a .fileops whose files lead elsewhere or make no sense is left', () => {
  const [path, elsewhere] = [newFolder(), newFolder()]
  writeFileSync(join(elsewhere, 'secret'), 'secret')
  mkdirSync(join(path, '.fileops'))
  symlinkSync(join(elsewhere, 'secret'), join(path, '.fileops', 'audit.log'))
  writeFileSync(join(path, '.fileops', 'index.json'), 'not json')
  const workspace = prepare(path)
  expect(importFileOpsWorkspace(workspace, silentLog)).toEqual({ made: [] })
  expect(existsSync(join(workspace.internalFolder, 'fileops-audit.log'))).toBe(false)
  expect(importFileOpsWorkspace(prepare(newFolder()), silentLog)).toBeUndefined()
})

test('RM1 F6 a .fileops that is a link, or holds a FIFO, imports nothing', () => {
  const [path, elsewhere] = [newFolder(), newFolder()]
  writeFileSync(join(elsewhere, 'audit.log'), 'secret')
  symlinkSync(elsewhere, join(path, '.fileops'))
  const workspace = prepare(path)
  expect(importFileOpsWorkspace(workspace, silentLog)).toBeUndefined()
  expect(existsSync(join(workspace.internalFolder, 'fileops-audit.log'))).toBe(false)
  rmSync(join(path, '.fileops'))
  mkdirSync(join(path, '.fileops'))
  execFileSync('mkfifo', [join(path, '.fileops', 'audit.log')])
  expect(importFileOpsWorkspace(workspace, silentLog)).toBeUndefined()
})
