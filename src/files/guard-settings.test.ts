import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import { testConfig } from '../../test/governance.ts'
import { toGuardSettings } from './guard-settings.ts'
import { createGuard } from './rules/guard.ts'

function guarded(settings: Record<string, unknown> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-guard-')))
  const home = join(root, 'home')
  mkdirSync(home)
  const workspace = join(home, 'AI')
  const config = testConfig(settings)
  const paths = statePaths(join(root, 'state'))
  const configFile = join(root, 'elsewhere.yaml')
  return {
    root,
    home,
    guard: () => createGuard(toGuardSettings({ config, paths, home, workspace, configFile })),
  }
}

test('PV4 the core is closed, whatever config says', () => {
  const { home, guard } = guarded()
  for (const path of [
    ...['.ssh/id', '.gnupg/x', '.aws/credentials', '.config/x', '.annabelle/data/grants.db'].map(
      (name) => join(home, name),
    ),
    '/etc/passwd',
    '/var/log/syslog',
    '/proc/self/environ',
  ])
    expect(guard().checkForbidden(path, 'read')).toBe('forbidden_path')
})

test('PV4 cowork’s own state is closed wherever config puts it', () => {
  const data = mkdtempSync(join(tmpdir(), 'cowork-own-'))
  const { root, guard } = guarded({
    'storage.path': join(data, 'store.db'),
    'ledger.key_path': join(data, 'key'),
    'audit.log_path': join(data, 'audit.jsonl'),
    'grants.database': join(data, 'grants.db'),
  })
  for (const path of [
    join(root, 'state', 'owner.token'),
    ...['store.db', 'store.db-wal', 'key', 'audit.jsonl', 'grants.db'].map((name) =>
      join(data, name),
    ),
    join(root, 'elsewhere.yaml'),
  ])
    expect(guard().checkForbidden(path, 'read')).toBe('forbidden_path')
  expect(guard().checkForbidden(join(data, 'notes.md'), 'read')).toBeUndefined()
})

test('PV4 config adds protected paths, and a link does not bypass them', () => {
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-closed-')))
  const link = join(mkdtempSync(join(tmpdir(), 'cowork-link-')), 'closed')
  symlinkSync(target, link)
  const { guard } = guarded({ 'security.forbidden_paths': [link] })
  for (const path of [link, target])
    expect(guard().checkForbidden(join(path, 'x'), 'read')).toBe('forbidden_path')
})

test('PV4 temporary folders are open though /var is not; work data is for reading', () => {
  const data = mkdtempSync(join(tmpdir(), 'cowork-work-'))
  const { guard } = guarded({ 'work.data_root': data })
  expect(guard().checkForbidden('/var/tmp/x', 'write')).toBeUndefined()
  expect(guard().checkForbidden(join(tmpdir(), 'x'), 'write')).toBeUndefined()
  expect(guard().checkForbidden(join(data, 'x'), 'read')).toBeUndefined()
  expect(guard().checkForbidden(join(data, 'vault', 'x'), 'write')).toBe('forbidden_path')
})

test('F6 agents read what cowork keeps in the workspace, not its trash and not what it set aside', () => {
  const { home, guard } = guarded()
  const own = (name: string) => join(home, 'AI', '.cowork', name)
  expect(guard().checkForbidden(own('audit.jsonl'), 'read')).toBeUndefined()
  expect(guard().checkForbidden(own('audit.jsonl'), 'write')).toBe('forbidden_path')
  for (const name of ['trash/id/content', 'aside/audit.aside-01020304.jsonl'])
    expect(guard().checkForbidden(own(name), 'read')).toBe('forbidden_path')
})
