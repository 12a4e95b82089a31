import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseConfigText, setConfigValue } from './edit.ts'

const path = ['workspace', 'path']

test.each([
  ['an empty file', '', 'workspace:\n  path: /w\n'],
  ['an empty mapping', '{}\n', 'workspace:\n  path: /w\n'],
  ['nothing but comments', '# mine\n# server:\n', '# mine\n# server:\n\nworkspace:\n  path: /w\n'],
  ['an empty section', 'workspace:\n', 'workspace:\n  path: /w\n'],
  [
    'other settings and comments',
    '# top\nserver:\n  port: 1 # here\nworkspace:\n  # where\n  path: /old # now\n',
    '# top\nserver:\n  port: 1 # here\nworkspace:\n  # where\n  path: /w # now\n',
  ],
])('SV5 %s gets the one setting, and nothing else changes', (_, before, after) => {
  expect(setConfigValue(before, path, '/w')).toBe(after)
})

test('SV5 parseConfigText reads a text like the daemon and leaves no file behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-edit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'not', 'yet', 'cowork.yaml')
  const read = (text: string, env = {}) => parseConfigText(text, file, env).config.workspace.path
  expect(read('workspace: { path: /w }')).toBe('/w')
  expect(read('workspace: { path: /w }', { WORKSPACE_PATH: '/other' })).toBe('/other')
  expect(() => read('workspace: { paht: /w }')).toThrow(
    expect.objectContaining({ code: 'config_invalid' }) as Error,
  )
  expect(readdirSync(folder)).toEqual([])
})
