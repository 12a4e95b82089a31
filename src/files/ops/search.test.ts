import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildDocx, paragraph, buildPdf } from '../../../test/documents.ts'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, pinnedRoot, testFolders } from '../../../test/roots.ts'
import type { OpRequest, RootedPath } from '../worker/protocol.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const everywhere = [inWorkspace(''), granted('')]
const ask = (query: string, more: Partial<OpRequest<'searchContent'>> = {}) => ({
  in: [inWorkspace('')] as readonly RootedPath[],
  query,
  types: [],
  limit: 100,
  ...more,
})
const searchPaths = async (query: string, more: Partial<OpRequest<'searchNames'>> = {}) =>
  (await files.run('searchNames', ask(query, more))).hits.map(({ path }) => path)
const searchLines = async (query: string, more: Partial<OpRequest<'searchContent'>> = {}) =>
  (await files.run('searchContent', ask(query, more))).hits.map(
    ({ path, line }) => `${path}:${line}`,
  )

describe('names', () => {
  test('S3 ranks the exact name first, then prefixes, parts and folder names', async () => {
    files.put({
      'z/Report.md': '',
      'reporting.md': '',
      'my report.md': '',
      'reports/a.md': '',
      'other.md': '',
    })
    expect(await searchPaths('report')).toEqual([
      'z/Report.md',
      'reporting.md',
      'my report.md',
      'reports/a.md',
    ])
    expect(await searchPaths('REPORTS/A')).toEqual(['reports/a.md'])
    const { total, hits } = await files.run('searchNames', ask('report'))
    expect(total).toBe(4)
    expect(hits[0]).toMatchObject({ root: 'workspace', size: 0 })
  })

  test('S3 globs match names, with a slash full paths; types filter', async () => {
    files.put({ 'a/x.md': '', 'a/b/y.MD': '', 'c.txt': '', 'a/z.txt': '' })
    expect(await searchPaths('*.md')).toEqual(['a/b/y.MD', 'a/x.md'])
    expect(await searchPaths('?.txt')).toEqual(['a/z.txt', 'c.txt'])
    expect(await searchPaths('a/**/*.{md,txt}')).toEqual(['a/b/y.MD', 'a/x.md', 'a/z.txt'])
    expect(await searchPaths('', { types: ['.txt'] })).toEqual(['a/z.txt', 'c.txt'])
  })

  test('S3 treats composed and decomposed letters as equal', async () => {
    files.put({ 'Cafe\u0301.md': '' })
    expect(await searchPaths('café')).toEqual(['Cafe\u0301.md'])
  })

  test('PV7 hostile patterns are refused or answered quickly', async () => {
    files.put({ [`${'a'.repeat(120)}.md`]: '' })
    expect(await files.refusal('searchNames', ask('{a,b}'.repeat(30)))).toBe('invalid_query')
    expect(await searchPaths(`${'*a'.repeat(60)}b`)).toEqual([])
    expect(await searchPaths(`${'**/'.repeat(60)}*.md`)).toHaveLength(1)
    expect(await files.refusal('searchNames', ask('a', { after: 'no cursor' }))).toBe(
      'invalid_query',
    )
  })

  test('S1 returns no results outside of the root and no protected paths', async () => {
    fs.symlinkSync(files.outside, join(files.granted, 'out'))
    fs.symlinkSync(join(files.outside, 'secret.txt'), join(files.granted, 'secret-link.txt'))
    fill(files.granted, {
      '.env.secret': '',
      'closed/secret.md': '',
      'mine/secret.md': '',
      'open/secret.md': '',
      'secret.pem': '',
    })
    const place = { ...granted(''), closed: ['mine'] }
    expect(await searchPaths('secret', { in: [place] })).toEqual(['open/secret.md', 'secret.pem'])
    expect(await searchPaths('node', { in: everywhere })).toEqual([])
  })

  test('S1 returns each file once for overlapping scopes, and ignores a missing scope', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'sub/a.md': '' })
    fill(folders.outside, { 'b.md': '' })
    const inner = pinnedRoot('inner', join(folders.granted, 'sub'))
    const single = pinnedRoot('single', join(folders.outside, 'b.md'), { kind: 'file' })
    const roots = [...folders.setup.roots, inner, single]
    const more = openTestOps({ folders, roots })
    const found = await more.run('searchNames', {
      ...ask('*.md'),
      in: [single, inner, { key: 'grant_1' }, { key: 'gone' }].map(({ key }) => ({
        root: key,
        path: '',
      })),
    })
    expect(found.hits.map(({ root, path }) => `${root}:${path}`)).toEqual(['single:', 'inner:a.md'])
    expect(found.total).toBe(2)
    await more.close()
  })

  test('S3 consecutive pages are the whole result', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 20 }),
        async (count, limit) => {
          const folder = fs
            .mkdtempSync(join(files.workspace, 'names-'))
            .slice(files.workspace.length + 1)
          for (let at = 0; at < count; at++)
            files.put({ [`${folder}/${at % 3}/${at % 2 ? 'x' : ''}note${at}`]: '' })
          const where = { in: [inWorkspace(folder)] }
          const whole = await searchPaths('note', where)
          const pages: string[] = []
          let after: string | undefined
          do {
            const page = await files.run(
              'searchNames',
              ask('note', { ...where, limit, ...(after && { after }) }),
            )
            expect(page.total).toBe(count)
            pages.push(...page.hits.map(({ path }) => path))
            after = page.next
          } while (after !== undefined)
          expect(pages).toEqual(whole)
          expect(new Set(pages).size).toBe(count)
        },
      ),
      { numRuns: 20 },
    )
  })
})

describe('content', () => {
  test('S3 returns matching lines with number and snippet', async () => {
    files.put({ 'a.md': 'one\nTwo words\r\nthree two\n', 'b/c.md': 'two', 'none.md': 'nothing' })
    const { hits, total, skipped } = await files.run('searchContent', ask('TWO'))
    expect(hits).toMatchObject([
      { path: 'a.md', line: 2, snippet: 'Two words', size: 25 },
      { path: 'a.md', line: 3, snippet: 'three two' },
      { path: 'b/c.md', line: 1, snippet: 'two' },
    ])
    expect([total, skipped]).toEqual([3, []])
    expect(await searchLines('two', { types: ['.txt'] })).toEqual([])
  })

  test('S3 searches text in any encoding, skips binary files and counts files over the limit', async () => {
    const small = openTestOps({ limits: { maxFileBytes: 1000, maxBinaryReadBytes: 1000 } })
    small.put({
      'utf16.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('ein Wört\n', 'utf16le')]),
      'latin.txt': Buffer.from('Das W\xf6rt und noch viele andere W\xf6rter', 'latin1'),
      'utf8.txt': '\uFEFFWÖRT',
      'b.bin': Buffer.from([0x57, 0xc3, 0xb6, 0x72, 0x74, 0, 1, 2, 3, 255]),
      'large.txt': `${'x'.repeat(2000)} wört`,
    })
    const { hits, skipped } = await small.run('searchContent', ask('wört'))
    expect(hits.map(({ path, snippet }) => [path, snippet])).toEqual([
      ['latin.txt', 'Das Wört und noch viele andere Wörter'],
      ['utf16.txt', 'ein Wört'],
      ['utf8.txt', 'WÖRT'],
    ])
    expect(skipped).toEqual([
      { why: 'too_large', count: 1, first: [{ root: 'workspace', path: 'large.txt' }] },
    ])
    await small.close()
  })

  test('PV5 does not search sensitive or protected files', async () => {
    files.put({ 'key.pem': 'needle', 'none.pem': 'nothing', '.env': 'needle' })
    fill(files.granted, { 'closed/a.md': 'needle', 'mine.md': 'needle', 'a.md': 'needle' })
    const places = [inWorkspace(''), { ...granted(''), closed: ['mine.md'] }]
    const answer = await files.run('searchContent', ask('needle', { in: places }))
    expect(answer.hits.map(({ path }) => path)).toEqual(['a.md'])
    // All sensitive files are counted, so that the count does not reveal a match.
    expect(answer).toMatchObject({
      total: 1,
      skipped: [{ why: 'sensitive', count: 2, first: [{ path: 'key.pem' }, { path: 'none.pem' }] }],
    })
  })

  test('FT6 counts documents by content instead of searching them, and names the first', async () => {
    const letter = buildDocx(paragraph('needle'))
    files.put({
      ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`letters/${at}.docx`, letter])),
      // ASCII only, but a document.
      'a.pdf': buildPdf('needle'),
      'renamed.txt': buildPdf('needle'),
      'old.doc': Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2000)]),
      'large.pdf': Buffer.concat([buildPdf('needle'), Buffer.alloc(200_000, 'needle\n')]),
      'packed.zip': Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(60)]),
      'dot.png': Buffer.from('\x89PNG\r\n\x1a\n\0needle', 'latin1'),
      'plain.txt': 'needle',
    })
    for (const regex of [false, true]) {
      const { hits, total, skipped } = await files.run('searchContent', ask('needle', { regex }))
      expect(hits.map(({ path }) => path)).toEqual(['plain.txt'])
      expect(total).toBe(1)
      const first = ['a.pdf', 'large.pdf', 'letters/1.docx', 'letters/2.docx', 'letters/3.docx']
      expect(skipped).toEqual([
        { why: 'document', count: 10, first: first.map((path) => ({ root: 'workspace', path })) },
      ])
    }
    const { skipped } = await files.run('searchContent', ask('needle', { types: ['.txt'] }))
    expect(skipped).toMatchObject([{ why: 'document', count: 1, first: [{ path: 'renamed.txt' }] }])
  })

  test('S3 keeps the lines of the page and counts all lines of a large file', async () => {
    const count = 100_000
    files.put({ 'a.txt': 'x\n'.repeat(count), 'b.txt': 'x\nx' })
    for (const regex of [false, true]) {
      const page = await files.run('searchContent', ask('x', { regex, limit: 3 }))
      expect(page.total).toBe(count + 2)
      expect(page.hits.map(({ line }) => line)).toEqual([1, 2, 3])
      const last = ask('x', { regex, limit: 3, after: `0.${count - 1}.a.txt` })
      const end = await files.run('searchContent', last)
      expect(end.hits.map(({ path, line }) => [path, line])).toEqual([
        ['a.txt', count],
        ['b.txt', 1],
        ['b.txt', 2],
      ])
      expect(end.total).toBe(count + 2)
      expect(end.next).toBeUndefined()
    }
  })

  test('PV1 follows no links and does not read hard links to outside files', async () => {
    fs.symlinkSync(join(files.outside, 'secret.txt'), join(files.granted, 'link.txt'))
    fs.linkSync(join(files.outside, 'secret.txt'), join(files.granted, 'second.txt'))
    const answer = await files.run('searchContent', ask('SECRET', { in: [granted('')] }))
    expect(answer).toMatchObject({
      hits: [],
      total: 0,
      skipped: [{ why: 'unreadable', count: 1, first: [{ root: 'grant_1', path: 'second.txt' }] }],
    })
  })

  test('PV7 regular expressions are linear and match single lines; invalid ones are refused', async () => {
    files.put({ 'a.md': `${'a'.repeat(5000)}!\nfoo 12\r\nbar\n` })
    expect(await searchLines('^(a+)+$', { regex: true })).toEqual([])
    expect(await searchLines('o \\d+$', { regex: true })).toEqual(['a.md:2'])
    expect(await searchLines('^BAR', { regex: true })).toEqual([])
    expect(await files.refusal('searchContent', ask('(', { regex: true }))).toBe('invalid_query')
    expect(await files.refusal('searchContent', ask(''))).toBe('invalid_query')
    // Refused although there is no file to search.
    expect(await files.refusal('searchContent', ask('two\nlines'))).toBe('invalid_query')
  })

  test('PV8 a snippet is one sanitized line around the match', async () => {
    files.put({ 'a.md': `${'x'.repeat(5000)}needle\u202e${'y'.repeat(5000)}` })
    const { hits } = await files.run('searchContent', ask('needle'))
    expect(hits[0]?.snippet).toContain('needleU+202E')
    expect(hits[0]?.snippet?.length).toBeLessThanOrEqual(200)
  })

  test('S3 consecutive pages of lines are the whole result', async () => {
    for (let at = 0; at < 30; at++)
      files.put({
        [`${at % 4}/f${at}.md`]: Array.from({ length: at % 5 }, () => 'needle').join('\nno\n'),
      })
    const whole = await searchLines('needle', { limit: 1000 })
    expect(whole.length).toBeGreaterThan(40)
    for (const limit of [1, 7, 30]) {
      const pages: string[] = []
      let after: string | undefined
      do {
        const page = await files.run(
          'searchContent',
          ask('needle', { limit, ...(after && { after }) }),
        )
        pages.push(...page.hits.map(({ path, line }) => `${path}:${line}`))
        after = page.next
        expect(page.total).toBe(whole.length)
      } while (after !== undefined)
      expect(pages).toEqual(whole)
    }
  })

  test('GR6 searches a grant of one file', async () => {
    const folders = testFolders()
    fill(folders.granted, { 'one.md': 'needle', 'two.md': 'needle' })
    const root = pinnedRoot('single', join(folders.granted, 'one.md'), { kind: 'file' })
    const one = openTestOps({ folders, roots: [...folders.setup.roots, root] })
    const { hits } = await one.run(
      'searchContent',
      ask('needle', { in: [{ root: 'single', path: '' }] }),
    )
    expect(hits).toMatchObject([{ root: 'single', path: '', line: 1 }])
    await one.close()
  })

  test('FT6 searches a single file of a folder, also through a link', async () => {
    files.put({ 'a/one.md': 'needle', 'a/two.md': 'needle' })
    fs.symlinkSync('a/one.md', join(files.workspace, 'link.md'))
    for (const path of ['a/one.md', 'link.md']) {
      const at = { in: [inWorkspace(path)] }
      expect(await searchLines('needle', at)).toEqual(['a/one.md:1'])
      expect(await searchPaths('one', at)).toEqual(['a/one.md'])
      expect(await searchPaths('two', at)).toEqual([])
      expect(await searchLines('needle', { ...at, types: ['.txt'] })).toEqual([])
    }
    const closed = { ...inWorkspace('a/one.md'), closed: ['a/one.md'] }
    expect(await files.refusal('searchContent', ask('needle', { in: [closed] }))).toBe('no_grant')
    const gone = { in: [inWorkspace('a/three.md')] }
    expect(await files.refusal('searchContent', ask('needle', gone))).toBe('not_found')
  })
})

test('S1 a cancelled search stops', async () => {
  for (let at = 0; at < 300; at++) files.put({ [`${at}/a.md`]: 'text' })
  const { ops } = await import('./index.ts')
  let asked = 0
  const cancelled = () => ++asked > 5
  const run = async () => ops.searchContent(files.context, ask('text'), Buffer.alloc(0), cancelled)
  await expect(run()).rejects.toMatchObject({ code: 'cancelled' })
  expect(asked).toBe(6)
})
