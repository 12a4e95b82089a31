// Cases 53 to 58, 73 to 75, 85 and 87: what is closed with a grant and without, and what deleting may not do.
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { Case, Scene } from './case.ts'
import { secretName } from './stand.ts'

const read = (path: string) => ['read_file', { path }] as const
const create = (path: string) => ['create_file', { path, content: 'written' }] as const

const deleting: Case[] = [
  {
    id: '53 X01',
    rule: 'TR1',
    what: 'deleting a link leaves what it names',
    in: 'workspace',
    arrange: ({ disk, stand }) => symlinkSync(join(stand.outside, secretName), disk('link')),
    call: ({ path }) => ['delete_file', { path: path('link') }],
    answer: ({ code }) => expect(code).toBeUndefined(),
    left: [],
  },
  {
    id: '54 X02 X04',
    rule: 'TR1',
    what: 'deleting a folder enters no link in it',
    in: 'workspace',
    arrange({ disk, stand }) {
      mkdirSync(disk('folder', 'deep'), { recursive: true })
      symlinkSync(stand.outside, disk('folder', 'deep', 'link'))
    },
    call: ({ path }) => ['delete_file', { path: path('folder') }],
    answer: ({ code }) => expect(code).toBeUndefined(),
    left: [],
  },
  ...['', '.', './'].map((path): Case => ({
    id: '55 X03',
    rule: 'FT5',
    what: `deleting the workspace itself, as ${JSON.stringify(path)}`,
    in: 'workspace',
    call: () => ['delete_file', { path }],
    answer: 'forbidden_path',
  })),
  {
    id: '55 X03',
    rule: 'FT5',
    what: 'deleting the workspace by its full path',
    in: 'workspace',
    call: ({ stand }) => ['delete_file', { path: stand.workspace }],
    answer: 'forbidden_path',
  },
  {
    id: '55 X03',
    rule: 'FT5',
    what: 'deleting under a grant',
    in: 'granted',
    arrange: ({ disk }) => writeFileSync(disk('file'), 'theirs'),
    call: ({ path }) => ['delete_file', { path: path('file') }],
    answer: 'no_grant',
    after: ({ disk }) => expect(existsSync(disk('file'))).toBe(true),
  },
  {
    id: '55 X03',
    rule: 'FT5',
    what: 'moving the whole of it away',
    call: ({ stand, area, path }) => [
      'move_file',
      { source: stand[area], destination: path('inside') },
    ],
    answer: ({ code }, { stand, area }) => {
      expect(code).toMatch(/^(forbidden_path|is_a_folder|invalid_path)$/)
      expect(existsSync(stand[area])).toBe(true)
    },
  },
]

/** Names that are closed wherever they stand, in every spelling that some disk takes for the same. */
const spellings = [
  ['57 P01', '.ssh/id_rsa'],
  ['57 P01', 'backup/id_ed25519'],
  ['58 P02', '.env'],
  ['58 P02', '.env.production'],
  ['73 N', '.SSH/config'],
  ['73 N', '.Env'],
  ['73 N', '.ssh./config'],
  ['73 N', '.ssh /config'],
  ['73 N', '.ssh::$DATA'],
  ['73 N', '.ſsh/config'],
  ['73 N', '.s\u200bsh/config'],
  ['73 N', '.ｓｓｈ/config'],
  ['73 N', 'SSH~1/config'],
] as const

const isNotListed =
  (name: string): Case['answer'] =>
  ({ output }) => {
    const listed = (output['files'] as { name: string }[]).map((file) => file.name)
    expect(listed).not.toContain(name)
  }

const names: Case[] = spellings.flatMap(([id, name]): Case[] => {
  const put = ({ disk }: Scene) => {
    mkdirSync(dirname(disk(name)), { recursive: true })
    writeFileSync(disk(name), 'key')
  }
  return [
    {
      id,
      rule: 'PV4',
      what: `${JSON.stringify(name)} is not read`,
      arrange: put,
      call: ({ path }) => read(path(name)),
      answer: 'forbidden_path',
    },
    {
      id,
      rule: 'PV4',
      what: `${JSON.stringify(name)} is not written`,
      call: ({ path }) => create(path(name)),
      answer: 'forbidden_path',
      left: [],
    },
    {
      id,
      rule: 'PV4',
      what: `${JSON.stringify(name)} is not read behind a link of another name`,
      arrange(scene) {
        put(scene)
        symlinkSync(name, scene.disk('harmless.txt'))
      },
      call: ({ path }) => read(path('harmless.txt')),
      answer: 'forbidden_path',
    },
    {
      id,
      rule: 'PV4',
      what: `${JSON.stringify(name)} is in no list`,
      arrange: put,
      call: ({ path }) => ['list_files', { path: path(), recursive: true }],
      answer: isNotListed(name),
    },
  ]
})

const foreign: Case[] = [
  ...['\\\\?\\C:\\Windows\\win.ini', '\\\\localhost\\c$\\boot.ini', './C:\\boot.ini'].map(
    (path): Case => ({
      id: '73 N',
      rule: 'PV2',
      what: `${path} is a name like any other here`,
      in: 'workspace',
      call: () => read(path),
      answer: 'not_found',
    }),
  ),
  {
    id: '73 N',
    rule: 'PV2',
    what: 'a path with a drive is refused',
    in: 'workspace',
    call: () => read('C:\\boot.ini'),
    answer: 'invalid_path',
  },
  ...['CON', 'nul.txt', 'COM1', 'folder/Aux.log', 'lpt9 .md'].map((name): Case => ({
    id: '74 N',
    rule: 'PV2',
    what: `${name} is a device elsewhere and made nowhere`,
    call: ({ path }) => create(path(name)),
    answer: 'invalid_path',
    left: [],
  })),
  {
    id: '75 N',
    rule: 'GR6',
    what: 'a folder by its number on the disk',
    in: 'granted',
    call: () => read('/.vol/16777220/2/etc/passwd'),
    answer: 'no_grant',
  },
  {
    id: '75 N',
    rule: 'GR6',
    what: 'a granted folder by another name of it',
    in: 'granted',
    arrange: ({ disk }) => writeFileSync(disk('file'), 'theirs'),
    call: ({ stand, disk }) => read(disk('file').replace(stand.granted, stand.alias)),
    answer: 'no_grant',
  },
]

/** Cowork's own files, under a grant that covers them by name. */
const own: Case[] = (
  [
    ['the store', ({ stand }) => join(stand.state, 'cowork.db')],
    ['the owner’s token', ({ stand }) => join(stand.state, 'owner.token')],
    ['the socket', ({ stand }) => join(stand.state, 'daemon.sock')],
    ['the folder', ({ stand }) => stand.state],
    ['the system’s accounts', () => '/etc/passwd'],
  ] satisfies [string, (scene: Scene) => string][]
).flatMap(([what, path]): Case[] => [
  {
    id: '85 N',
    rule: 'PV4',
    what: `${what}, read`,
    in: 'granted',
    call: (scene) => read(path(scene)),
    answer: 'forbidden_path',
  },
  {
    id: '85 N',
    rule: 'PV4',
    what: `${what}, written`,
    in: 'granted',
    call: (scene) => ['create_file', { path: path(scene), content: 'x', overwrite: true }],
    answer: 'forbidden_path',
  },
  {
    id: '85 N',
    rule: 'PV4',
    what: `${what}, asked for`,
    in: 'granted',
    call: (scene) => ['request_grant', { path: path(scene), permission: 'read', reason: 'work' }],
    answer: 'forbidden_path',
  },
])

const inWorkspace = (
  [
    ['create_file', 'audit.jsonl', { content: 'x', overwrite: true }],
    ['update_file', 'audit.jsonl', { content: 'x' }],
    ['delete_file', 'index.json', {}],
    ['list_files', 'trash', {}],
  ] satisfies [string, string, object][]
).map(([tool, name, more]): Case => ({
  id: '85 N',
  rule: 'F6',
  what: `${tool} of .cowork/${name}`,
  in: 'workspace',
  call: () => [tool, { path: `.cowork/${name}`, ...more }],
  answer: 'forbidden_path',
}))

const programs: Case[] = [
  ...['setup.exe', 'run.BAT', 'go.ps1', 'x.sh', 'setup.exe.', 'setup.exe::$DATA'].map(
    (name): Case => ({
      id: '87 N',
      rule: 'F5',
      what: `${name} is not made`,
      call: ({ path }) => create(path(name)),
      answer: 'forbidden_extension',
      left: [],
    }),
  ),
  ...(['move_file', 'copy_file'] as const).map((tool): Case => ({
    id: '87 N',
    rule: 'F5',
    what: `${tool} makes no program of a text`,
    arrange: ({ disk }) => writeFileSync(disk('setup.txt'), 'MZ'),
    call: ({ path }) => [tool, { source: path('setup.txt'), destination: path('setup.exe') }],
    answer: 'forbidden_extension',
    left: ['setup.txt'],
  })),
  ...['start.desktop', 'report.lnk', '.git/hooks/pre-commit', '.vscode/tasks.json', '.bashrc'].map(
    (name): Case => ({
      id: '87 N',
      rule: 'F5',
      what: `${name} is never made in silence`,
      call: ({ path }) => create(path(name)),
      answer: 'approval_required',
      left: [],
    }),
  ),
  {
    id: '87 N',
    rule: 'F5',
    what: 'a link of a harmless name makes no hook',
    arrange({ disk }) {
      mkdirSync(disk('.git', 'hooks'), { recursive: true })
      symlinkSync('.git/hooks', disk('notes'))
    },
    call: ({ path }) => create(path('notes', 'pre-commit')),
    answer: 'forbidden_path',
    after: ({ disk }) => expect(readdirSync(disk('.git', 'hooks'))).toEqual([]),
  },
]

export const closed: readonly Case[] = [
  ...deleting,
  ...names,
  ...foreign,
  ...own,
  ...inWorkspace,
  ...programs,
]
