import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import { readColumns } from '../worker/columns.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { comparePath } from './top-n.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

type Options = Partial<OpRequest<'list'>>
const list = async (path: string, more: Options = {}) => {
  const answer = await files.run('list', {
    at: inWorkspace(path),
    recursive: false,
    limit: 1000,
    ignore: false,
    ...more,
  })
  return { ...answer, entries: readColumns(answer) }
}
const paths = async (path: string, more: Options = {}) =>
  (await list(path, more)).entries.map((entry) => entry.path)

test('FT3 lists names in order with their types', async () => {
  files.put({ 'b.md': 'text', 'a/inside.md': '', 'c.md': '' })
  fs.symlinkSync('b.md', join(files.workspace, 'link'))
  const { entries, next } = await list('')
  expect(entries).toMatchObject([
    { path: 'a', type: 'folder', size: 0 },
    { path: 'b.md', type: 'file', size: 4 },
    { path: 'c.md', type: 'file', size: 0 },
    { path: 'link', type: 'link', size: 0 },
  ])
  expect(next).toBeUndefined()
  const { mtimeMs } = fs.statSync(join(files.workspace, 'b.md'))
  expect(entries[1]?.modifiedAt).toBe(Math.floor(mtimeMs))
})

test('FT3 lists names and types alone without a stat per file', async () => {
  files.put({ 'b.md': 'text', 'a/inside.md': '' })
  fs.symlinkSync('b.md', join(files.workspace, 'link'))
  const asked = { at: inWorkspace(''), recursive: true, limit: 3, ignore: false, bare: true }
  expect(await files.run('list', asked)).toEqual({
    entries: { paths: ['a', 'a/inside.md', 'b.md'], types: 'dff' },
    next: 'b.md',
  })
  const [rest] = readColumns(await files.run('list', { ...asked, after: 'b.md' }))
  expect(rest).toEqual({ path: 'link', type: 'link', size: 0, modifiedAt: 0 })
})

test('FT3 lists trees up to a depth, each folder before its content', async () => {
  files.put({ 'a/b/c/d.md': '', 'a/x.md': '', 'a.md': '' })
  expect(await paths('', { recursive: true })).toEqual([
    'a',
    'a/b',
    'a/b/c',
    'a/b/c/d.md',
    'a/x.md',
    'a.md',
  ])
  expect(await paths('', { recursive: true, depth: 2 })).toEqual(['a', 'a/b', 'a/x.md', 'a.md'])
  expect(await paths('a/b', { recursive: true })).toEqual(['c', 'c/d.md'])
})

test('FT3 omits .gitignore matches and default excludes, the nearest rule first', async () => {
  files.put({
    '.gitignore': '*.log\nbuild/\n/only-here.md\n',
    'a.log': '',
    'build/out.md': '',
    'only-here.md': '',
    'sub/only-here.md': '',
    'sub/.gitignore': '!keep.log\nown.md\n',
    'sub/keep.log': '',
    'sub/own.md': '',
    'sub/deep/own.md': '',
    'node_modules/x/index.js': '',
    '.git/config': '',
  })
  const seen = await paths('', { recursive: true, ignore: true })
  expect(seen).toEqual([
    '.gitignore',
    'sub',
    'sub/.gitignore',
    'sub/deep',
    'sub/keep.log',
    'sub/only-here.md',
  ])
  // Rules of parent folders apply below too.
  expect(await paths('sub/deep', { recursive: true, ignore: true })).toEqual([])
  expect(await paths('', { recursive: true })).toContain('node_modules/x/index.js')
})

test('PV7 a hostile .gitignore does not hang, and its other rules apply', async () => {
  files.put({
    '.gitignore': `${'*a'.repeat(40)}b\n${'**/'.repeat(60)}x\nignored.md\n`,
    'ignored.md': '',
    [`${'a'.repeat(200)}.md`]: '',
  })
  expect(await paths('', { recursive: true, ignore: true })).toEqual([
    '.gitignore',
    `${'a'.repeat(200)}.md`,
  ])
})

test('PV1 lists links and never follows them', async () => {
  fs.symlinkSync(files.outside, join(files.workspace, 'out'))
  files.put({ 'a/b.md': '' })
  fs.symlinkSync('.', join(files.workspace, 'a/loop'))
  expect(await paths('', { recursive: true })).toEqual(['a', 'a/b.md', 'a/loop', 'out'])
  expect(
    await files.refusal('list', {
      at: inWorkspace('out'),
      recursive: false,
      limit: 9,
      ignore: false,
    }),
  ).toBe('path_escape')
})

test('PV4 does not list protected paths', async () => {
  fill(files.granted, {
    '.env': '',
    '.ssh/id_rsa': '',
    'closed/a.md': '',
    'a/.ENV.local': '',
    'a/b.md': '',
    'c/d.md': '',
  })
  const at = { ...granted(''), closed: ['c'] }
  const { entries } = await files.run('list', { at, recursive: true, limit: 100, ignore: false })
  expect(entries.paths).toEqual(['a', 'a/b.md'])
})

test('FT3 listing a folder removes stale temporary files and nothing else', async () => {
  const [old, young] = [`.cowork-${'1'.repeat(24)}.tmp`, `.cowork-${'2'.repeat(24)}.tmp`]
  files.put({ [old]: 'half', [young]: 'half', [`deep/${old}`]: '', '.cowork-notes.tmp': '' })
  const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
  for (const path of [old, `deep/${old}`, '.cowork-notes.tmp'])
    fs.utimesSync(join(files.workspace, path), longAgo, longAgo)
  expect(await paths('')).toEqual(['.cowork-notes.tmp', 'deep'])
  expect(fs.readdirSync(files.workspace).toSorted()).toEqual([young, '.cowork-notes.tmp', 'deep'])
  expect(fs.readdirSync(join(files.workspace, 'deep'))).toEqual([old])
  await files.run('searchNames', { in: [inWorkspace('')], query: 'x', types: [], limit: 1 })
  expect(fs.readdirSync(join(files.workspace, 'deep'))).toEqual([])
})

test('FT3 listing removes a folder that a crash left half copied', async () => {
  const old = `.cowork-${'4'.repeat(24)}.tmp`
  files.put({ [`${old}/a/b.md`]: 'half', [`${old}/c.md`]: '', 'd.md': '' })
  fs.symlinkSync(files.outside, join(files.workspace, old, 'out'))
  const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
  fs.utimesSync(join(files.workspace, old), longAgo, longAgo)
  expect(await paths('')).toEqual(['d.md'])
  expect(fs.readdirSync(files.workspace)).toEqual(['d.md'])
  expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
})

test('FT5 refuses to create a file with a temporary name', async () => {
  const name = `.cowork-${'3'.repeat(24)}.tmp`
  files.put({ 'a.md': 'mine' })
  const write = { at: inWorkspace(name), writeMode: 'create', encoding: 'utf-8' } as const
  expect(await files.refusal('write', write, 'x')).toBe('invalid_path')
  const to = inWorkspace(`x/${name}`)
  expect(await files.refusal('move', { from: inWorkspace('a.md'), to })).toBe('invalid_path')
  expect(await files.refusal('copy', { from: inWorkspace('a.md'), to })).toBe('invalid_path')
  // A folder is refused too: the cleanup would remove it with its content.
  const inside = inWorkspace(`${name}/a.md`)
  const asked = { from: inWorkspace('a.md'), to: inside }
  expect(await files.refusal('move', asked)).toBe('invalid_path')
  expect(await files.refusal('write', { ...write, at: inside }, 'x')).toBe('invalid_path')
  expect(fs.readdirSync(files.workspace)).toEqual(['a.md'])
})

test('FT3 does not list a recent temporary file', async () => {
  files.put({ [`.cowork-${'0'.repeat(24)}.tmp`]: '', '.cowork-notes.tmp': '' })
  expect(await paths('')).toEqual(['.cowork-notes.tmp'])
  // It may still be in use.
  expect(fs.readdirSync(files.workspace)).toContain(`.cowork-${'0'.repeat(24)}.tmp`)
})

test('FT3 refuses to list a file', async () => {
  files.put({ 'a.md': '' })
  const ask = { recursive: false, limit: 10, ignore: false }
  expect(await files.refusal('list', { ...ask, at: inWorkspace('a.md') })).toBe('not_a_folder')
  expect(await files.refusal('list', { ...ask, at: inWorkspace('none') })).toBe('not_found')
})

describe('pages', () => {
  const names = fc.constantFrom('a', 'b', 'ab', 'a.b', 'B', 'é', '漢', 'z z', '-')
  const trees = fc.uniqueArray(fc.array(names, { minLength: 1, maxLength: 4 }), {
    maxLength: 25,
    selector: (path) => path.join('/'),
  })

  /** Drops paths that would need a file to be a folder. */
  const dropConflicts = (tree: readonly (readonly string[])[]) =>
    tree.filter(
      (path) =>
        !tree.some(
          (other) => other.length > path.length && path.every((name, at) => other[at] === name),
        ),
    )

  test('FT3 consecutive pages are the whole list, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        trees,
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (tree, limit, recursive) => {
          const folder = fs
            .mkdtempSync(join(files.workspace, 'tree-'))
            .slice(files.workspace.length + 1)
          for (const path of dropConflicts(tree)) files.put({ [join(folder, ...path)]: '' })
          const whole = await paths(folder, { recursive })
          expect(whole).toEqual(whole.toSorted(comparePath))
          const pages: string[] = []
          let after: string | undefined
          do {
            const page = await list(folder, {
              recursive,
              limit,
              ...(after !== undefined && { after }),
            })
            expect(page.entries.length).toBeLessThanOrEqual(limit)
            pages.push(...page.entries.map(({ path }) => path))
            after = page.next
          } while (after !== undefined)
          expect(pages).toEqual(whole)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('FT3 a page continues after an entry that was deleted', async () => {
    files.put({ 'a/b.md': '', 'a/c.md': '', 'd.md': '' })
    fs.rmSync(join(files.workspace, 'a'), { recursive: true })
    expect(await paths('', { recursive: true, after: 'a/b.md' })).toEqual(['d.md'])
  })

  test.each(['../outside/', '..', 'a/../..', './a', 'a//b', '/etc', '', 'a/.', 'a\0'])(
    'PV1 refuses a forged cursor: %j',
    async (after) => {
      files.put({ 'a/b.md': '', 'c.md': '' })
      for (const recursive of [true, false])
        await expect(paths('', { recursive, after })).rejects.toMatchObject({
          code: 'invalid_query',
        })
    },
  )

  test('PV1 for any cursor, the page is a rest of the list and nothing else', async () => {
    files.put({ 'a/b/c.md': '', 'a/d.md': '', 'e/f.md': '', 'g.md': '' })
    fs.symlinkSync(files.outside, join(files.workspace, 'h'))
    const whole = await paths('', { recursive: true })
    const part = fc.constantFrom(
      'a',
      'b',
      'd.md',
      'e',
      'f.md',
      'h',
      '..',
      '.',
      '',
      'z',
      'secret.txt',
    )
    const cursors = fc.array(part, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'))
    await fc.assert(
      fc.asyncProperty(cursors, async (after) => {
        const come = await paths('', { recursive: true, after }).catch(() => [])
        expect(come).toEqual(come.length > 0 ? whole.slice(-come.length) : [])
      }),
      { numRuns: 200 },
    )
  })

  test('FT3 a cursor in an omitted folder continues after it', async () => {
    files.put({ '.gitignore': 'made/\n', 'made/a.js': '', 'made/b.js': '', 'src/a.ts': '' })
    const ignoring = { recursive: true, ignore: true, after: 'made/a.js' }
    expect(await paths('', ignoring)).toEqual(['src', 'src/a.ts'])
  })

  test('FT3 pages a folder of many names in order', async () => {
    const count = 20_000
    fs.mkdirSync(join(files.workspace, 'many'))
    for (let at = 0; at < count; at++) fs.writeFileSync(join(files.workspace, 'many', `n${at}`), '')
    const { entries, next } = await list('many', { limit: 100 })
    expect(entries.slice(0, 3).map(({ path }) => path)).toEqual(['n0', 'n1', 'n10'])
    expect(next).toBe(entries.at(-1)?.path)
    const later = await list('many', { limit: 100, after: 'n9990' })
    expect(later.entries.map(({ path }) => path)).toEqual([
      'n9991',
      'n9992',
      'n9993',
      'n9994',
      'n9995',
      'n9996',
      'n9997',
      'n9998',
      'n9999',
    ])
    expect(later.next).toBeUndefined()
  })
})

describe('usage', () => {
  test('FT7 sums files and bytes by folder up to a depth', async () => {
    files.put({ 'a/b/c.md': '12345', 'a/d.md': '123', 'e.md': '1', 'x/y/z/w.md': '' })
    fs.symlinkSync(files.outside, join(files.workspace, 'out'))
    const answer = await files.run('usage', { at: inWorkspace(''), depth: 2 })
    expect(answer).toMatchObject({ files: 4, bytes: 9 })
    expect(answer.folders.toSorted((a, b) => comparePath(a.path, b.path))).toEqual([
      { path: 'a', files: 2, bytes: 8 },
      { path: 'a/b', files: 1, bytes: 5 },
      { path: 'x', files: 1, bytes: 0 },
      { path: 'x/y', files: 1, bytes: 0 },
    ])
    expect(await files.run('usage', { at: inWorkspace('a'), depth: 1 })).toMatchObject({
      files: 2,
      folders: [{ path: 'b', bytes: 5 }],
    })
  })

  test('C5 FT7 names the largest files up to a depth, at most as many as a map can show', async () => {
    files.put({ 'a/b/deep.md': '123456789', 'a/d.md': '12345', 'e.md': '123', 'a/empty.md': '' })
    const { largest } = await files.run('usage', { at: inWorkspace(''), depth: 2 })
    expect(largest).toEqual([
      { path: 'a/d.md', bytes: 5 },
      { path: 'e.md', bytes: 3 },
    ])
    expect(await files.run('usage', { at: inWorkspace('a'), depth: 1 })).toMatchObject({
      largest: [{ path: 'd.md', bytes: 5 }],
    })
    for (let at = 1; at <= 1000; at++)
      fs.writeFileSync(join(files.workspace, `n${at}`), 'x'.repeat(at))
    const many = await files.run('usage', { at: inWorkspace(''), depth: 1 })
    expect(many.largest.map(({ bytes }) => bytes)).toEqual(
      Array.from({ length: 200 }, (_, at) => 1000 - at),
    )
  })
})
