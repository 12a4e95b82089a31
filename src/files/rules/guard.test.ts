import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GuardSettings } from '../worker/protocol.ts'
import { createGuard } from './guard.ts'

const settings: GuardSettings = {
  home: '/home/me',
  forbidden: ['/home/me/.ssh', '/home/me/.config', '/etc', '/var', '/home/me/.cowork'],
  except: ['/var/tmp'],
  readOnly: ['/home/me/.worksync', '/home/me/AI/.cowork'],
  sensitive: ['**/credentials*', '**/secret*', '**/*.pem', '~/private/**', '*.kdbx'],
  forbiddenExtensions: [
    { extension: '.exe' },
    { extension: '.sh', unless_in: 'Code/bash/' },
    { extension: '.bat' },
  ],
  workspace: '/home/me/AI',
}
const guard = createGuard(settings)
const isClosed = (path: string, need: 'read' | 'write' = 'read') =>
  guard.checkForbidden(path, need) !== undefined

describe('protected paths', () => {
  test.each([
    '/home/me/.ssh',
    '/home/me/.ssh/config',
    '/home/me/.SSH/config',
    '/home/me/.ssh./config',
    '/home/me/.ssh /config',
    '/home/me/.ssh::$DATA',
    '/home/me/.s\u200csh/config',
    '/home/me/.ſſh/config',
    '/home/me/.ßh/config',
    '/home/me/.ｓｓｈ',
    '/HOME/me/.config/x',
    '/etc/passwd',
    '/var/lib/x',
    '/home/me/.cowork/cowork.db',
    '/srv/project/.ssh/known_hosts',
    '/srv/project/.env',
    '/srv/project/.ENV.local',
    '/srv/project/.envrc',
    '/srv/project/.env.bak',
    '/srv/project/.env.local.bak.1',
    '/srv/project/.env.examples.bak',
    '/srv/project/id_rsa',
    '/srv/project/ID_ED25519',
    '/srv/SSH~1/x',
    '/srv/NativeMessagingHosts/x.json',
    '/home/me/AI/.env',
    '/srv/project/.env:x',
  ])('PV4 %s is protected', (path) => {
    expect(guard.checkForbidden(path, 'read')).toBe('forbidden_path')
    expect(guard.checkForbidden(path, 'create')).toBe('forbidden_path')
  })

  test.each([
    '/home/me/ssh/config',
    '/home/me/.sshd',
    '/home/me/.configuration',
    '/etcetera',
    '/srv/project/.env.example',
    '/srv/project/.env.SAMPLE',
    '/srv/project/.env.template',
    '/srv/project/.env.example.bak',
    '/srv/project/.env.Sample.bak.12',
    '/srv/project/id_rsa.pub',
    '/srv/project/environment',
    '/var/tmp/x',
    '/home/me/AI/notes.md',
    '/srv/project/notes: .env',
    '/srv/project/a\\.env',
  ])('PV4 %s is not protected', (path) => {
    expect(isClosed(path)).toBe(false)
  })

  test('PV4 treats composed and decomposed letters as one name', () => {
    const customGuard = createGuard({ ...settings, forbidden: ['/home/me/Privé'] })
    for (const form of ['NFC', 'NFD'] as const)
      expect(customGuard.checkForbidden('/home/me/privé/x'.normalize(form), 'read')).toBe(
        'forbidden_path',
      )
  })

  test('PV4 work data and internal files in the workspace are read-only', () => {
    for (const path of ['/home/me/.worksync/stories.yaml', '/home/me/AI/.cowork/index.json']) {
      expect(isClosed(path)).toBe(false)
      expect(isClosed(path, 'write')).toBe(true)
      expect(guard.checkForbidden(path, 'create')).toBe('forbidden_path')
      expect(guard.checkForbidden(path, 'delete')).toBe('forbidden_path')
    }
  })

  test('PV4 opens a workspace inside a protected folder, except for protected paths in it', () => {
    const customGuard = createGuard({
      ...settings,
      workspace: '/var/lib/cowork/ws',
      forbidden: ['/var', '/var/lib/cowork/ws/keys'],
    })
    expect(customGuard.checkForbidden('/var/lib/cowork/ws/a', 'write')).toBeUndefined()
    expect(customGuard.checkForbidden('/var/lib/cowork/ws/keys/a', 'read')).toBe('forbidden_path')
    expect(customGuard.checkForbidden('/var/lib/cowork/other', 'read')).toBe('forbidden_path')
    // A different folder on a case-sensitive disk.
    expect(customGuard.checkForbidden('/var/lib/cowork/WS/a', 'read')).toBe('forbidden_path')
  })

  test('PV4 checks single names', () => {
    expect(['.ssh', '.SSH', '.env', 'id_rsa. '].every(guard.isForbiddenName)).toBe(true)
    expect(['ssh', '.env.example', 'notes.md'].some(guard.isForbiddenName)).toBe(false)
  })

  const suffix = fc.constantFrom('', '.', ' ', '...', '::$DATA', ' .')
  const mixedCaseName = fc
    .tuple(
      fc.constantFrom('.ssh', '.env', '.env.local', 'id_rsa', 'id_ed25519'),
      fc.infiniteStream(fc.boolean()),
    )
    .map(([name, upper]) =>
      Array.from(name, (char) => (upper.next().value ? char.toUpperCase() : char)).join(''),
    )
  test('PV4 no case, trailing dots, spaces or streams bypass a protected name at any depth', () => {
    fc.assert(
      fc.property(mixedCaseName, suffix, fc.boolean(), (name, end, isDeep) => {
        const path = `/srv/${isDeep ? 'a/b/' : ''}${name}${end}${isDeep ? '/c' : ''}`
        expect(guard.checkForbidden(path, 'read')).toBe('forbidden_path')
      }),
    )
  })
})

test.each([
  ['/a/credentials.json', true],
  ['/a/Credentials', true],
  ['/a/my-credentials', false],
  ['/a/secret', true],
  ['/a/server.PEM', true],
  ['/home/me/private/x/y', true],
  ['/srv/private/x', false],
  ['/a/b/vault.kdbx', true],
  ['/a/notes.md', false],
  ['/a/server.pem.bak', true],
  ['/a/server.PEM.bak.12', true],
  ['/a/server.pem.bak.bak', true],
  ['/a/vault.kdbx:x', true],
  ['/a/notes.md.bak', false],
  ['/a/server.pem.bakery', false],
])('PV5 %s is sensitive: %s', (path, expected) => {
  expect(guard.isSensitive(path)).toBe(expected)
})

test.each([
  ['/p/.git/hooks/pre-commit', /Git/],
  ['/p/.git/config', /Git/],
  ['/p/.git', /Git/],
  ['/p/.GIT. ', /Git/],
  ['/p/GIT~1/hooks/pre-commit', /Git/],
  ['/p/.git/modules/sub/hooks/post-checkout', /Git/],
  ['/p/.git/worktrees/x/commondir', /Git/],
  ['/srv/repo.git', /Git/],
  ['/srv/repo.git/hooks/update', /Git/],
  ['/srv/repo.git/config', /Git/],
  ['/srv/repo.git/modules/sub/config', /Git/],
  ['/p/bare/HEAD', /Git/],
  ['/p/.hg/hgrc', /Git/],
  ['/p/.gitmodules', /Git/],
  ['/p/AGENT.md', /agents/],
  ['/p/.Rprofile', /startup/],
  ['/p/a:.desktop', /opening/],
  ['/p/x:1.lnk', /opening/],
  ['/p/app.desktop:x', /opening/],
  ['/home/me/.bashrc', /shell/],
  ['/home/me/.ZSHRC', /shell/],
  ['/p/app.desktop', /opening/],
  ['/p/app.lnk', /opening/],
  ['/p/.vscode/tasks.json', /editor/],
  ['/p/.idea/runConfigurations/x.xml', /editor/],
  ['/home/me/Library/LaunchAgents/x.plist', /logs in/],
])('F5 RS9 writing %s needs approval', (path, reason) => {
  expect(guard.guardReason(path)).toMatch(reason)
})

test.each([
  ['/ws/.claude/settings.json', /AI clients/],
  ['/ws/.CLAUDE/settings.local.json', /AI clients/],
  ['/ws/CLAUDE~1/settings.json', /AI clients/],
  ['/ws/.mcp.json', /AI clients/],
  ['/ws/MCP~1.JSO', /AI clients/],
  ['/ws/.cursor/mcp.json', /AI clients/],
  ['/ws/.codex/config.toml', /AI clients/],
  ['/ws/.gemini/settings.json', /AI clients/],
  ['/ws/.windsurf/rules/a.md', /AI clients/],
  ['/ws/.windsurfrules', /AI clients/],
  ['/ws/.continue/config.yaml', /AI clients/],
  ['/ws/.aider.conf.yml', /AI clients/],
  ['/ws/.clinerules/a.md', /AI clients/],
  ['/ws/.roo/mcp.json', /AI clients/],
  ['/ws/.roomodes', /AI clients/],
  ['/me/Claude/claude_desktop_config.json', /AI clients/],
  ['/ws/CLAUDE.md', /instructions/],
  ['/ws/sub/claude.local.md', /instructions/],
  ['/ws/ＡＧＥＮＴＳ.md', /instructions/],
  ['/ws/AGENTS.md:x', /instructions/],
  ['/ws/AGEN\u200bTS.md', /instructions/],
  ['/ws/Gemini.MD. ', /instructions/],
  ['/ws/.cursorrules', /instructions/],
  ['/ws/.github/copilot-instructions.md', /instructions/],
  ['/ws/.github/instructions/ts.instructions.md', /instructions/],
  ['/ws/.husky/pre-commit', /Git/],
  ['/ws/lefthook.yml', /Git/],
  ['/ws/.pre-commit-config.yaml', /Git/],
  ['/ws/.github/workflows/ci.yml', /build server/],
  ['/ws/.gitlab-ci.yml', /build server/],
  ['/ws/.devcontainer/devcontainer.json', /container/],
  ['/ws/.devcontainer.json', /container/],
  ['/ws/.vscode/mcp.json', /AI clients/],
  ['/ws/.vscode/settings.json', /editor/],
  ['/ws/.envrc', /shell/],
  ['/ws/.npmrc', /package manager/],
  ['/ws/.yarnrc.yml', /package manager/],
  ['/ws/pip.conf', /package manager/],
  ['/ws/.pypirc', /package manager/],
])('RS9 writing %s is high risk', (path, reason) => {
  expect(guard.riskReason(path)).toMatch(reason)
})

test.each([
  'package.json',
  'Makefile',
  'README.md',
  'docs/agent-guide.md',
  'src/claude/index.ts',
  'src/cursor.ts',
  '.github/ISSUE_TEMPLATE.md',
  '.github/dependabot.yml',
  '.gitignore',
  '.editorconfig',
  'src/hooks/useAgents.ts',
  'src/git/hooks/list.ts',
  'pyproject.toml',
  'tsconfig.json',
])('RS9 the ordinary file %s needs no approval', (path) => {
  expect(guard.riskReason(`/ws/${path}`)).toBeUndefined()
})

test('F5 other files need no approval', () => {
  for (const path of [
    '/p/src/hooks/use.ts',
    '/p/.gitignore',
    '/p/bashrc',
    '/p/desktop',
    '/p/git/config',
  ])
    expect(guard.guardReason(path)).toBeUndefined()
})

test('F5 PV5 riskReason covers files that run later and sensitive files', () => {
  expect(guard.riskReason('/p/.git/config')).toMatch(/Git/)
  expect(guard.riskReason('/p/server.pem')).toMatch(/secret/)
  expect(guard.riskReason('/srv/repo.git/README.md')).toBeUndefined()
  expect(guard.riskReason('/p/notes.md')).toBeUndefined()
})

test.each([
  ['/home/me/AI/tool.exe', /\.exe cannot be created/],
  ['/home/me/AI/TOOL.EXE', /\.exe/],
  ['/home/me/AI/tool.exe.', /\.exe/],
  ['/home/me/AI/tool.exe::$DATA', /\.exe/],
  ['/home/me/AI/run.sh', /only in Code\/bash\//],
  ['/home/me/AI/Code/bash.sh', /only in/],
  ['/srv/Code/bash/run.sh', /only in/],
  ['/home/me/AI/n/a:b.exe', /\.exe/],
  ['/home/me/AI/n/report: final.bat', /\.bat/],
  ['/home/me/AI/n/x:1.sh', /only in/],
  ['/home/me/AI/n/tool.exe:stream', /\.exe/],
  ['/home/me/AI/Code\\bash\\x.sh', /only in/],
  ['/home/me/AI/code/bash/x.sh', /only in/],
  ['/home/me/AI/Code:a/bash/x.sh', /only in/],
])('F5 %s cannot be created', (path, why) => {
  expect(guard.checkExtension(path)).toMatch(why)
})

test('F5 allows scripts in their folder, and all other extensions', () => {
  for (const path of [
    '/home/me/AI/Code/bash/run.sh',
    '/home/me/AI/Code/bash/a/run.sh',
    '/home/me/AI/Code/bash/a:b.sh',
    '/home/me/AI/a.sh:notes.md/b.md',
    '/srv/a.md',
  ])
    expect(guard.checkExtension(path)).toBeUndefined()
})

test('F5 no prefix or stream suffix of a name bypasses a rule', () => {
  const bad = fc.constantFrom('a.exe', 'b.bat', 'c.sh', 'd.desktop', 'e.lnk')
  const plain = fc.string({ maxLength: 6 }).map((text) => text.replaceAll('/', ''))
  const isRestricted = (name: string) =>
    guard.checkExtension(`/srv/${name}`) !== undefined ||
    guard.guardReason(`/srv/${name}`) !== undefined
  fc.assert(
    fc.property(bad, plain, (name, text) => {
      expect(isRestricted(`${text}${name}`)).toBe(true)
      expect(isRestricted(`${name}:${text}`)).toBe(true)
    }),
  )
})

test('PV4 a single name is protected exactly if its full path is, in a folder without protected paths', () => {
  const part = fc.constantFrom(
    '.ssh',
    '.SSH',
    'id_rsa',
    '.env',
    '.env.local',
    '.env.example',
    'native',
    'ssh~1',
    'ſ',
  )
  const name = fc
    .tuple(fc.option(part, { nil: '' }), fc.string({ maxLength: 4 }))
    .map((parts) => parts.join('').replaceAll('/', ''))
    .filter((text) => text !== '')
  expect(guard.containsForbidden('/srv/project')).toBe(false)
  expect(guard.containsForbidden('/home/ME')).toBe(true)
  fc.assert(
    fc.property(name, (text) => {
      expect(guard.isForbiddenName(text)).toBe(isClosed(`/srv/project/${text}`))
    }),
    { numRuns: 2000 },
  )
})
