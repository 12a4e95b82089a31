import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readClientFile, removeClientFile, writeClientFile } from './client-file.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cowork-client-file-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('K4 keeps a symbolic link', () => {
  const at = folder()
  writeFileSync(join(at, 'real.json'), '{}')
  symlinkSync(join(at, 'real.json'), join(at, 'link.json'))
  writeClientFile(readClientFile(join(at, 'link.json')), '{"a":1}')
  expect(lstatSync(join(at, 'link.json')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(at, 'real.json'), 'utf8')).toBe('{"a":1}')
})

test('K4 refuses a file that cannot be restored byte for byte', () => {
  const at = folder()
  writeFileSync(join(at, 'latin'), Buffer.from([0x7b, 0xe9, 0x7d]))
  symlinkSync(join(at, 'nowhere'), join(at, 'dangling'))
  mkdirSync(join(at, 'folder'))
  writeFileSync(join(at, 'huge'), Buffer.alloc(16 * 1024 * 1024 + 1, 32))
  expect(() => readClientFile(join(at, 'latin'))).toThrow('not UTF-8 text')
  expect(() => readClientFile(join(at, 'dangling'))).toThrow('a broken symbolic link')
  expect(() => readClientFile(join(at, 'folder'))).toThrow('is not a file')
  expect(() => readClientFile(join(at, 'huge'))).toThrow('is larger than')
})

test('K4 a byte order mark is part of the text', () => {
  const file = join(folder(), 'config')
  writeFileSync(file, '\uFEFF{}')
  expect(readClientFile(file).text).toBe('\uFEFF{}')
})

test('K4 creates a private file with its folder, and can remove it', () => {
  const file = join(folder(), '.codex', 'config.toml')
  const before = readClientFile(file)
  expect(before).toMatchObject({ exists: false, text: '' })
  expect(writeClientFile(before, 'a = 1\n', 0)).toBeUndefined()
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
  removeClientFile(readClientFile(file))
  expect(lstatSync(file, { throwIfNoEntry: false })).toBeUndefined()
})
