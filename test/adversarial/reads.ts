// Cases 1 to 24: reading what is not there to be read.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Case, Scene } from './case.ts'
import { secretName } from './stand.ts'

const treasure = ({ stand }: Scene) => join(stand.outside, secretName)
const read = (path: string) => ['read_file', { path }] as const
const readHere = (name: string) => (scene: Scene) => read(scene.path(name))
const linked = (target: (scene: Scene) => string) => (scene: Scene) =>
  symlinkSync(target(scene), scene.disk('link'))

const paths: Case[] = [
  {
    id: '1 R01',
    rule: 'PV2',
    what: 'a path that climbs out with ..',
    call: ({ stand, area }) =>
      read(
        area === 'workspace'
          ? `../outside/${secretName}`
          : `${stand.granted}/../outside/${secretName}`,
      ),
    answer: 'path_traversal',
  },
  {
    id: '2 R02',
    rule: 'GR6',
    what: 'an absolute path that nobody granted',
    call: (scene) => read(treasure(scene)),
    answer: 'no_grant',
  },
  {
    id: '3 R03',
    rule: 'PV2',
    what: 'an absolute path that climbs out of where it may be',
    call: ({ stand, area }) => read(`${stand[area]}/../outside/${secretName}`),
    answer: 'path_traversal',
  },
  ...[
    { id: '4 R04', sibling: 'granted-evil' },
    { id: '5 R05', sibling: 'granted ' },
    { id: '6 R06', sibling: "granted'" },
  ].flatMap(({ id, sibling }): Case[] => [
    {
      id,
      rule: 'PV2',
      what: `a folder beside the granted one: ${JSON.stringify(sibling)}, listed`,
      in: 'granted',
      call: ({ stand }) => ['list_files', { path: join(stand.base, sibling) }],
      answer: 'no_grant',
    },
    {
      id,
      rule: 'PV2',
      what: `a folder beside the granted one: ${JSON.stringify(sibling)}, read`,
      in: 'granted',
      call: ({ stand }) => read(join(stand.base, sibling, secretName)),
      answer: 'no_grant',
    },
  ]),
  {
    id: '17 R17',
    rule: 'PV2',
    what: 'a NUL in the path',
    call: ({ path }) => read(`${path('a')}\0.txt`),
    answer: 'invalid_path',
  },
  {
    id: '18 R18',
    rule: 'PV2',
    what: '%2e%2e is a name like any other',
    call: ({ path }) => read(path('%2e%2e', '%2e%2e', 'outside', secretName)),
    answer: 'not_found',
  },
  {
    id: '19 R19',
    rule: 'PV2',
    what: 'backslashes are part of a name',
    call: ({ path }) => read(path(`..\\..\\outside\\${secretName}`)),
    answer: 'not_found',
  },
  {
    id: '20 R20',
    rule: 'PV2',
    what: 'a file address',
    call: (scene) => read(`file://${treasure(scene)}`),
    answer: 'invalid_path',
  },
  {
    id: '21 R21',
    rule: 'PV2',
    what: 'the home is expanded, then checked',
    in: 'granted',
    call: () => read('~/.ssh/id_ed25519'),
    answer: 'forbidden_path',
  },
  {
    id: '21 R21',
    rule: 'PV2',
    what: 'another user’s home',
    in: 'granted',
    call: () => read('~root/notes.txt'),
    answer: 'invalid_path',
  },
  {
    id: '22 R22',
    rule: 'PV2',
    what: 'a path of 5,000 characters',
    call: ({ path }) => read(path(...Array.from({ length: 2500 }, () => 'x'))),
    answer: 'invalid_path',
  },
  {
    id: '24 R24',
    rule: 'PV2',
    what: 'full-width dots are a name like any other',
    call: ({ path }) => read(path('．．', '．．', 'outside', secretName)),
    answer: 'not_found',
  },
]

const links: Case[] = [
  {
    id: '7 R07',
    rule: 'PV1',
    what: 'a link to a file outside',
    arrange: linked(treasure),
    call: readHere('link'),
    answer: 'path_escape',
  },
  {
    id: '8 R08',
    rule: 'PV1',
    what: 'a file behind a link to a folder outside',
    arrange: linked(({ stand }) => stand.outside),
    call: ({ path }) => read(path('link', secretName)),
    answer: 'path_escape',
  },
  {
    id: '9 R09',
    rule: 'PV1',
    what: 'a relative link out',
    arrange: linked(() => `../../outside/${secretName}`),
    call: readHere('link'),
    answer: 'path_escape',
  },
  {
    id: '10 R10',
    rule: 'PV1',
    what: 'a chain of links, the last one out',
    arrange(scene) {
      symlinkSync('second', scene.disk('link'))
      symlinkSync(scene.disk('third'), scene.disk('second'))
      symlinkSync(treasure(scene), scene.disk('third'))
    },
    call: readHere('link'),
    answer: 'path_escape',
  },
  {
    id: '10 R10',
    rule: 'PV1',
    what: 'a chain of links that stays inside is followed',
    arrange({ disk }) {
      mkdirSync(disk('deep'))
      writeFileSync(disk('deep', 'file'), 'inside')
      symlinkSync('folder/../folder/file', disk('link'))
      symlinkSync(disk('deep'), disk('folder'))
    },
    call: readHere('link'),
    answer: ({ code, text }) => expect({ code, text }).toEqual({ text: 'inside' }),
  },
  {
    id: '11 R11',
    rule: 'PV3',
    what: 'a second name of a file outside',
    in: 'granted',
    arrange: (scene) => linkSync(treasure(scene), scene.disk('twin')),
    call: readHere('twin'),
    answer: 'hard_link',
  },
  {
    id: '12 R12',
    rule: 'PV3',
    what: 'a link to the root of the disk by way of /proc',
    arrange: linked(() => '/proc/self/root'),
    call: (scene) => read(scene.path('link', treasure(scene))),
    answer: 'path_escape',
  },
  {
    id: '13 R13',
    rule: 'PV3',
    what: 'a link to the environment of the process',
    arrange: linked(() => '/proc/self/environ'),
    call: readHere('link'),
    answer: 'path_escape',
  },
  {
    id: '13 R13',
    rule: 'PV4',
    what: 'the environment of the process itself',
    in: 'granted',
    call: () => read('/proc/self/environ'),
    answer: 'forbidden_path',
  },
  {
    id: '23 R23',
    rule: 'PV1',
    what: 'links in a circle',
    arrange({ disk }) {
      symlinkSync('second', disk('link'))
      symlinkSync('link', disk('second'))
    },
    call: readHere('link'),
    answer: 'path_escape',
  },
]

const kinds: Case[] = [
  {
    id: '14 R14',
    rule: 'PV3',
    what: 'six pipes that nobody writes to',
    arrange: ({ disk }) => void execFileSync('mkfifo', [disk('pipe')]),
    call: readHere('pipe'),
    times: 6,
    answer: 'not_regular',
  },
  {
    id: '15 R15',
    rule: 'PV3',
    what: 'a device without end',
    arrange: ({ disk }) => void execFileSync('mknod', [disk('zero'), 'c', '1', '5']),
    call: readHere('zero'),
    answer: 'not_regular',
  },
  {
    id: '16 R16',
    rule: 'F4',
    what: 'a file of 10 GiB that takes no room',
    arrange({ disk }) {
      closeSync(openSync(disk('sparse'), 'w'))
      truncateSync(disk('sparse'), 10 * 2 ** 30)
    },
    call: readHere('sparse'),
    answer: 'too_large',
  },
  {
    id: '77 N',
    rule: 'PV3',
    what: 'a socket',
    async arrange({ disk }) {
      const server = createServer().listen(disk('socket'))
      await once(server, 'listening')
      server.unref()
    },
    call: readHere('socket'),
    answer: 'not_regular',
  },
  {
    id: '81 N',
    rule: 'PV9',
    what: 'a file whose content is in a cloud, read',
    arrange: ({ disk }) => writeFileSync(disk('.report.pdf.icloud'), 'bplist00'),
    call: readHere('.report.pdf.icloud'),
    answer: 'cloud_placeholder',
  },
  {
    id: '81 N',
    rule: 'PV9',
    what: 'a file whose content is in a cloud, moved',
    arrange: ({ disk }) => writeFileSync(disk('.report.pdf.icloud'), 'bplist00'),
    call: ({ path }) => [
      'copy_file',
      { source: path('.report.pdf.icloud'), destination: path('copy.pdf') },
    ],
    answer: 'cloud_placeholder',
  },
  {
    id: '11 R11',
    rule: 'PV3',
    what: 'a second name in the workspace is the agent’s own affair',
    in: 'workspace',
    arrange(scene) {
      writeFileSync(scene.disk('one'), 'mine')
      linkSync(scene.disk('one'), scene.disk('twin'))
    },
    call: readHere('twin'),
    answer: ({ text }) => expect(text).toBe('mine'),
  },
]

export const reads: readonly Case[] = [...paths, ...links, ...kinds]
