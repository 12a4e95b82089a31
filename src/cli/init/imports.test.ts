import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { findImportableFiles, mergeImports, redactSecrets } from './imports.ts'

const policies = {
  file: '/home/a/cowork.config.yaml',
  text: '# ours\npolicies:\n  - id: crm # CRM\n    rules: []\n',
}
const files = {
  file: '/home/a/fileops-mcp.yaml',
  text: 'grants:\n  database: data/grants.db\n  default_scope: session\nsecurity:\n  forbidden_paths: [~/.ssh/]\n  max_file_size_mb: 5\n',
}
const grants = {
  file: '/home/a/grants-config.yaml',
  text: 'grants:\n  - path: ~/Work/\n    permission: read\nsecurity:\n  forbidden_paths: [~/.ssh/, ~/.aws/]\n  max_file_size_mb: 9\n',
}

test('SV5 merges the sections of the seeds’ files with their comments', () => {
  const { text, taken } = mergeImports('', [policies, files, grants])
  expect(text).toContain('# ours\npolicies:\n  - id: crm # CRM')
  expect(parse(text)).toEqual({
    policies: [{ id: 'crm', rules: [] }],
    grants: {
      // A relative path refers to the folder of its file.
      database: '/home/a/data/grants.db',
      default_scope: 'session',
      entries: [{ path: '~/Work/', permission: 'read' }],
    },
    security: { forbidden_paths: ['~/.ssh/', '~/.aws/'], max_file_size_mb: 5 },
  })
  expect(taken.map(({ setting }) => setting)).toEqual([
    'policies',
    'grants',
    'security',
    'grants',
    'security',
  ])
})

test('SV5 keeps existing settings and reports skipped ones', () => {
  const existing = '# mine\nsecurity:\n  max_file_size_mb: 1 # small\npolicies:\n  - id: crm\n'
  const { text, kept } = mergeImports(existing, [policies, files])
  expect(text).toContain('# mine\nsecurity:\n  max_file_size_mb: 1 # small')
  expect(parse(text)).toMatchObject({
    policies: [{ id: 'crm' }],
    security: { max_file_size_mb: 1 },
  })
  expect(kept.map(({ setting, file }) => [setting, file])).toEqual([
    ['policies', policies.file],
    ['security.max_file_size_mb', files.file],
  ])
})

test('SV5 merges grant settings into an existing list of grants', () => {
  const { text } = mergeImports(grants.text, [files])
  expect(parse(text)).toMatchObject({
    grants: { entries: [{ path: '~/Work/' }], default_scope: 'session' },
  })
})

test('SV5 imports a wildcard host as localhost and reports it, unless it is secured', () => {
  const sample = { file: '/home/a/fileops-mcp.yaml', text: 'server:\n  host: 0.0.0.0\n' }
  const { text, adapted } = mergeImports('', [sample])
  expect(parse(text)).toEqual({ server: { host: 'localhost' } })
  expect(adapted).toEqual([
    { setting: 'server.host', file: sample.file, from: '0.0.0.0', to: 'localhost' },
  ])
  const safe = { ...sample, text: 'server: { host: 0.0.0.0, insecure_bind: true }\n' }
  expect(mergeImports('', [safe])).toMatchObject({ adapted: [] })
  expect(parse(mergeImports('', [safe]).text)).toMatchObject({ server: { host: '0.0.0.0' } })
})

test('SV5 a second import changes nothing', () => {
  const once = mergeImports('', [policies, files, grants]).text
  expect(mergeImports(once, [policies, files, grants]).text).toBe(once)
})

test('I8 shows a change without secrets, and references unchanged', () => {
  const text = 'agents: [{ id: a, token: sk-cowork-1 }]\nwork: { api_key: env:KEY }\n'
  expect(redactSecrets(text)).toBe(text.replace('sk-cowork-1', '…'))
})

test('SV5 finds files in the current and the home folder, each once', () => {
  const home = mkdtempSync(join(tmpdir(), 'cowork-init-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, 'grants-config.yaml'), '')
  writeFileSync(join(home, 'cowork.config.yaml'), '')
  expect(findImportableFiles({ cwd: home, home })).toEqual([
    join(home, 'cowork.config.yaml'),
    join(home, 'grants-config.yaml'),
  ])
})
