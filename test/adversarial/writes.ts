// Cases 35 to 52: writing that stays inside, whole, and as it was meant.
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Case, Scene } from './case.ts'
import { secretName } from './stand.ts'

const treasure = ({ stand }: Scene) => join(stand.outside, secretName)
const create = (path: string, more: object = {}) =>
  ['create_file', { path, content: 'written', ...more }] as const
const edit = (path: string, old: string, by: string) =>
  ['update_file', { path, edits: [{ old, new: by }], create_backup: false }] as const

const toOutside = (scene: Scene) => symlinkSync(scene.stand.outside, scene.disk('link'))
const toTreasure = (scene: Scene) => symlinkSync(treasure(scene), scene.disk('link'))
const toNothing = ({ disk, stand }: Scene) => symlinkSync(join(stand.outside, 'new'), disk('link'))
const twin = ({ disk, stand }: Scene) => linkSync(join(stand.outside, 'shared.txt'), disk('twin'))

const holds =
  (name: string, content: string) =>
  ({ disk }: Scene) =>
    expect(readFileSync(disk(name), 'utf8')).toBe(content)
const hasMode =
  (name: string, mode: number) =>
  ({ disk }: Scene) =>
    expect(statSync(disk(name)).mode & 0o7777).toBe(mode)
const done: Case['answer'] = ({ code, wire }) => expect(code, wire).toBeUndefined()

const escapes: Case[] = [
  {
    id: '35 W01',
    rule: 'PV1',
    what: 'a new file behind a linked folder',
    arrange: toOutside,
    call: ({ path }) => create(path('link', 'new.txt')),
    answer: 'path_escape',
  },
  {
    id: '36 W02',
    rule: 'PV1',
    what: 'overwriting through a link',
    arrange: toTreasure,
    call: ({ path }) => create(path('link'), { overwrite: true }),
    answer: 'path_escape',
  },
  {
    id: '36 W02',
    rule: 'PV1',
    what: 'editing through a link',
    arrange: toTreasure,
    call: ({ path }) => edit(path('link'), 'crown', 'paper'),
    answer: 'path_escape',
  },
  {
    id: '37 W03',
    rule: 'PV1',
    what: 'a new file where a link to nothing stands',
    arrange: toNothing,
    call: ({ path }) => create(path('link'), { overwrite: true }),
    answer: 'path_escape',
  },
  {
    id: '38 W04',
    rule: 'PV1',
    what: 'new folders behind a linked folder',
    arrange: toOutside,
    call: ({ path }) => create(path('link', 'new', 'deeper', 'file.txt')),
    answer: 'path_escape',
  },
  {
    id: '39 W05',
    rule: 'PV1',
    what: 'new folders behind a link to nothing',
    arrange: toNothing,
    call: ({ path }) => create(path('link', 'deeper', 'file.txt')),
    answer: 'path_escape',
  },
  {
    id: '42 W08',
    rule: 'PV1',
    what: 'a move into a linked folder',
    arrange(scene) {
      toOutside(scene)
      writeFileSync(scene.disk('mine'), 'mine')
    },
    call: ({ path }) => ['move_file', { source: path('mine'), destination: path('link', 'mine') }],
    answer: 'path_escape',
    left: ['link', 'mine'],
  },
  {
    id: '42 W08',
    rule: 'PV1',
    what: 'a copy into a linked folder',
    arrange(scene) {
      toOutside(scene)
      writeFileSync(scene.disk('mine'), 'mine')
    },
    call: ({ path }) => ['copy_file', { source: path('mine'), destination: path('link', 'mine') }],
    answer: 'path_escape',
  },
  {
    id: '7 R07',
    rule: 'PV1',
    what: 'a copy of what a link outside names',
    arrange: toTreasure,
    call: ({ path }) => ['copy_file', { source: path('link'), destination: path('copy') }],
    answer: 'path_escape',
    left: ['link'],
  },
  {
    id: '43 W09',
    rule: 'FT5',
    what: 'a link is moved, and not what it names',
    arrange: toTreasure,
    call: ({ path }) => ['move_file', { source: path('link'), destination: path('moved') }],
    answer: done,
    left: ['moved'],
    after: (scene) => expect(readlinkSync(scene.disk('moved'))).toBe(treasure(scene)),
  },
  {
    id: '40 W06',
    rule: 'PV3',
    what: 'a file with a second name outside is overwritten here only',
    in: 'workspace',
    arrange: twin,
    call: ({ path }) => create(path('twin'), { overwrite: true }),
    answer: done,
    after: holds('twin', 'written'),
  },
  {
    id: '41 W07',
    rule: 'PV3',
    what: 'a file with a second name outside is edited here only',
    in: 'workspace',
    arrange: twin,
    call: ({ path }) => edit(path('twin'), 'two', 'paper'),
    answer: done,
    after: holds('twin', 'one and paper\n'),
  },
  {
    id: '41 W07',
    rule: 'PV3',
    what: 'a granted file with a second name outside is not edited',
    in: 'granted',
    arrange: twin,
    call: ({ path }) => edit(path('twin'), 'two', 'paper'),
    answer: 'hard_link',
  },
]

/** Nothing is lost by what others take for an update. */
const kept: Case[] = [
  ...(['move_file', 'copy_file'] as const).map((tool): Case => ({
    id: '44 W10',
    rule: 'FT5',
    what: `${tool} onto a file that is there`,
    arrange({ disk }) {
      writeFileSync(disk('one'), 'one')
      writeFileSync(disk('two'), 'two')
    },
    call: ({ path }) => [tool, { source: path('one'), destination: path('two') }],
    answer: 'exists',
    left: ['one', 'two'],
    after: holds('two', 'two'),
  })),
  {
    id: '44 W10',
    rule: 'FT5',
    what: 'a folder onto a folder that is there',
    arrange({ disk }) {
      mkdirSync(disk('one'))
      mkdirSync(disk('two'))
      writeFileSync(disk('two', 'file'), 'two')
    },
    call: ({ path }) => ['move_file', { source: path('one'), destination: path('two') }],
    answer: 'exists',
    left: ['one', 'two'],
  },
  {
    id: '44 W10',
    rule: 'FT1',
    what: 'a new file where one is',
    arrange: ({ disk }) => writeFileSync(disk('one'), 'one'),
    call: ({ path }) => create(path('one')),
    answer: 'exists',
    after: holds('one', 'one'),
  },
  ...[
    { id: '45 W11', mode: 0o600 },
    { id: '46 W12', mode: 0o755 },
  ].map(({ id, mode }): Case => ({
    id,
    rule: 'FT4',
    what: `an edit keeps the mode 0${mode.toString(8)}`,
    arrange({ disk }) {
      writeFileSync(disk('file'), 'one')
      chmodSync(disk('file'), mode)
    },
    call: ({ path }) => edit(path('file'), 'one', 'two'),
    answer: done,
    after: hasMode('file', mode),
  })),
  {
    id: '47 W13',
    rule: 'FT4',
    what: 'an edit keeps the ends of lines',
    arrange: ({ disk }) => writeFileSync(disk('file'), 'one\r\ntwo\r\nthree\r\n'),
    call: ({ path }) => edit(path('file'), 'one\ntwo', '1\n2'),
    answer: done,
    after: holds('file', '1\r\n2\r\nthree\r\n'),
  },
  {
    id: '48 W14',
    rule: 'FT4',
    what: 'an edit that fits in two places',
    arrange: ({ disk }) => writeFileSync(disk('file'), 'one one'),
    call: ({ path }) => edit(path('file'), 'one', 'two'),
    answer: 'ambiguous_edit',
    after: holds('file', 'one one'),
  },
  {
    id: '49 W15',
    rule: 'FT4',
    what: 'signs that some replace with what was found',
    arrange: ({ disk }) => writeFileSync(disk('file'), 'one two'),
    call: ({ path }) => edit(path('file'), 'one', "$& $1 $` $' $$"),
    answer: done,
    after: holds('file', "$& $1 $` $' $$ two"),
  },
  {
    id: '50 W16',
    rule: 'FT4',
    what: 'a text in UTF-16 stays one',
    arrange: ({ disk }) => writeFileSync(disk('file'), Buffer.from('\ufeffgrün one', 'utf16le')),
    call: ({ path }) => edit(path('file'), 'one', 'zwölf'),
    answer: done,
    after: ({ disk }) =>
      expect(readFileSync(disk('file')).toString('utf16le')).toBe('\ufeffgrün zwölf'),
  },
  {
    id: '51 W17',
    rule: 'FT4',
    what: 'bytes are not edited as text',
    arrange: ({ disk }) => writeFileSync(disk('file'), bytes),
    call: ({ path }) => edit(path('file'), 'one', 'two'),
    answer: 'not_text',
    after: ({ disk }) => expect(readFileSync(disk('file'))).toEqual(bytes),
  },
  {
    id: '52 W18',
    rule: 'FT1',
    what: 'nothing unfinished is left behind',
    call: ({ path }) => create(path('file.txt')),
    answer: done,
    left: ['file.txt'],
  },
  {
    id: '87 N',
    rule: 'F5',
    what: 'a copy has none of the rights of a program that runs as its owner',
    arrange({ disk }) {
      writeFileSync(disk('tool'), '#!/bin/true')
      chmodSync(disk('tool'), 0o4755)
    },
    call: ({ path }) => ['copy_file', { source: path('tool'), destination: path('copy') }],
    answer: done,
    after: ({ disk }) => expect(lstatSync(disk('copy')).mode & 0o7111).toBe(0),
  },
]

const bytes = Buffer.concat([
  Buffer.from([0, 255, 254, 1, 200]),
  Buffer.from('one'),
  Buffer.alloc(64, 129),
])

export const writes: readonly Case[] = [...escapes, ...kept]
