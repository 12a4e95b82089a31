import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import type { Range } from '../worker/protocol.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const manyBytes = 1024 * 1024
const read = async (path: string, range?: Range, maxBytes = manyBytes) => {
  const { body, ...answer } = await files.run('read', {
    at: inWorkspace(path),
    maxBytes,
    ...(range && { range }),
  })
  return { ...answer, text: body?.toString('utf8') ?? '' }
}
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('FT2 returns a text as UTF-8 with its type and hash', async () => {
  files.put({ 'notes/a.md': '# Title\n' })
  expect(await read('notes/a.md')).toMatchObject({
    text: '# Title\n',
    kind: 'text',
    encoding: 'utf-8',
    mime: 'text/markdown',
    sha256: sha256('# Title\n'),
    sensitive: false,
    stat: { type: 'file', size: 8 },
  })
  files.put({ 'empty.ts': '' })
  expect(await read('empty.ts')).toMatchObject({ text: '', kind: 'text', mime: 'text/plain' })
})

test('FT2 strips the byte order mark and hashes the original bytes', async () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('naïve\r\n', 'utf16le')])
  files.put({ 'a.txt': bytes })
  expect(await read('a.txt')).toMatchObject({
    text: 'naïve\r\n',
    encoding: 'utf-16le',
    sha256: sha256(bytes),
  })
})

test('FT2 reads a legacy encoding, in short texts and after a long ASCII part', async () => {
  const text = 'Les élèves français étaient très fatigués après la fête de Noël.'
  files.put({
    'short.txt': iconv.encode('café', 'windows-1252'),
    'late.txt': iconv.encode(`${'plain\n'.repeat(20_000)}${text}`, 'windows-1252'),
  })
  expect(await read('short.txt')).toMatchObject({ text: 'café', kind: 'text' })
  const late = await read('late.txt')
  expect(late.encoding).toBe('windows-1252')
  expect(late.text.endsWith(text)).toBe(true)
})

test('FT2 detects the encoding of each part, also after a long ASCII part', async () => {
  const line = '«Les élèves français» étaient fatigués après la fête de Noël, à 30°\n'
  const text = `${'plain\n'.repeat(20_000)}${line.repeat(50)}`
  files.put({ 'late.txt': iconv.encode(text, 'windows-1252') })
  const tail = await read('late.txt', { by: 'tail', lines: 2 })
  expect(tail).toMatchObject({ text: line + line, encoding: 'windows-1252' })
  let joined = ''
  for (let from: number | undefined = 119_950; from !== undefined;) {
    const piece = await read('late.txt', { by: 'bytes', from }, 31)
    joined += piece.text
    from = piece.next
  }
  expect(joined).toBe(text.slice(119_950))
})

test('FT2 returns as much text as fits, for any size on disk', async () => {
  const plain = 'mostly plain, déjà vu\n'.repeat(1000)
  const size = Buffer.byteLength(plain)
  for (const name of ['windows-1252', 'utf-16le']) {
    files.put({
      'a.txt': name === 'utf-16le' ? encodeText(plain, name) : iconv.encode(plain, name),
    })
    const whole = await read('a.txt', undefined, size)
    expect(whole.text).toBe(plain)
    expect(whole.next).toBeUndefined()
    const less = await read('a.txt', undefined, size - 1)
    expect(less.next).toBeGreaterThan(0)
    expect(Buffer.byteLength(less.text)).toBeLessThan(size)
  }
})

test('FT2 reads UTF-16 with half a code unit at its end, short or long', async () => {
  for (const text of ['short text', 'long text '.repeat(20_000)])
    for (const name of ['utf-16le', 'utf-16be']) {
      files.put({ 'a.txt': Buffer.concat([encodeText(text, name), Buffer.from('x')]) })
      expect(await read('a.txt')).toMatchObject({ kind: 'text', encoding: name, text })
    }
})

test('PV5 marks a sensitive file', async () => {
  files.put({ 'server.pem': 'key' })
  expect(await read('server.pem')).toMatchObject({ sensitive: true, text: 'key' })
})

test('FT2 returns pictures whole, and other bytes up to the limit', async () => {
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001080600000000000000', 'hex'),
    Buffer.alloc(5000, 7),
  ])
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 256))
  files.put({ 'a.png': png, 'b.bin': bytes })
  const picture = await files.run('read', { at: inWorkspace('a.png'), maxBytes: 100 })
  expect(picture).toMatchObject({ kind: 'image', mime: 'image/png', encoding: 'binary' })
  expect(picture.body?.equals(png)).toBe(true)
  const other = await files.run('read', { at: inWorkspace('b.bin'), maxBytes: 100 })
  expect(other).toMatchObject({ kind: 'binary', mime: 'application/octet-stream', next: 100 })
  expect(other.body?.equals(bytes.subarray(0, 100))).toBe(true)
  expect(other.sha256).toBeUndefined()
})

test('FT2 F4 reads a byte range of a picture and of a large spreadsheet', async () => {
  const small = openTestOps({ limits: { maxFileBytes: 1000, maxBinaryReadBytes: 1000 } })
  const png = Buffer.from(
    '89504e470d0a1a0a0000000d494844520000000100000001080600000000000000',
    'hex',
  )
  small.put({
    'a.png': Buffer.concat([png, Buffer.alloc(5000, 7)]),
    'a.xlsx': Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(5000, 7)]),
  })
  for (const path of ['a.png', 'a.xlsx']) {
    const at = inWorkspace(path)
    const range = { by: 'bytes', from: 0 } as const
    const part = await small.run('read', { at, maxBytes: 100, range })
    expect(part.body).toHaveLength(100)
    expect(part).toMatchObject({ next: 100 })
    expect(part.sha256).toBeUndefined()
  }
  await small.close()
})

test('FT2 raw returns the bytes of a text as on disk', async () => {
  const bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('text')])
  files.put({ 'a.txt': bytes })
  const raw = await files.run('read', { at: inWorkspace('a.txt'), maxBytes: 100, raw: true })
  expect(raw).toMatchObject({ kind: 'binary', encoding: 'binary', sha256: sha256(bytes) })
  expect(raw.body?.equals(bytes)).toBe(true)
})

test('F4 refuses a file over the limit and reads it by ranges', async () => {
  const sparse = join(files.workspace, 'sparse.bin')
  fs.writeFileSync(sparse, '')
  fs.truncateSync(sparse, 10 * 1024 ** 3)
  expect(await files.refusal('read', { at: inWorkspace('sparse.bin'), maxBytes: manyBytes })).toBe(
    'too_large',
  )
  const range = { by: 'bytes', from: 5_000_000_000, to: 5_000_000_010 } as const
  const part = await files.run('read', {
    at: inWorkspace('sparse.bin'),
    maxBytes: manyBytes,
    range,
  })
  expect(part.body).toEqual(Buffer.alloc(10))
  expect(part.next).toBe(5_000_000_010)

  const small = openTestOps({ limits: { maxFileBytes: 1000, maxBinaryReadBytes: 1000 } })
  small.put({ 'long.txt': 'line\n'.repeat(500) })
  const at = inWorkspace('long.txt')
  expect(await small.refusal('read', { at, maxBytes: manyBytes })).toBe('too_large')
  const head = await small.run('read', { at, maxBytes: 100, range: { by: 'head', lines: 2 } })
  expect(head.body?.toString()).toBe('line\nline\n')
  expect(head.next).toBe(3)
  await small.close()
})

test('FT2 finds lines in the middle and at the end of a long file, and counts them if the end is read', async () => {
  const line = (number: number) => `line ${number} ${'x'.repeat(60)}\n`
  const count = 60_000
  files.put({ 'long.log': Array.from({ length: count }, (_, at) => line(at + 1)).join('') })
  const middle = await read('long.log', { by: 'lines', from: 30_000, to: 30_100 })
  expect(middle.text.startsWith(line(30_000))).toBe(true)
  expect(middle.text.endsWith(line(30_100))).toBe(true)
  expect(middle).toMatchObject({ next: 30_101 })
  expect(middle.lines).toBeUndefined()
  expect((await read('long.log', { by: 'tail', lines: 2 })).text).toBe(
    line(count - 1) + line(count),
  )
  expect((await read('long.log', { by: 'lines', from: count, to: count + 9 })).lines).toBe(count)
})

test('FT2 refuses lines of a binary file and a line that does not fit, with a hint', async () => {
  files.put({ 'b.bin': Buffer.from([0, 1, 2, 3, 255]), 'long.txt': 'x'.repeat(1000) })
  const head = { by: 'head', lines: 1 } as const
  const ask = (path: string) => ({ at: inWorkspace(path), maxBytes: 100, range: head })
  expect(await files.refusal('read', ask('b.bin'))).toBe('not_text')
  expect(await files.refusal('read', ask('long.txt'))).toBe('too_large')
  const tail = { by: 'tail', lines: 1 } as const
  expect(await files.refusal('read', { ...ask('long.txt'), range: tail })).toBe('too_large')
})

test('PV9 does not read a cloud placeholder as empty', async () => {
  const stub = join(files.workspace, 'report.pdf')
  fs.writeFileSync(stub, '')
  fs.truncateSync(stub, 100_000)
  files.put({ '.report.docx.icloud': 'bplist00' })
  for (const path of ['report.pdf', '.report.docx.icloud'])
    expect(await files.refusal('read', { at: inWorkspace(path), maxBytes: manyBytes })).toBe(
      'cloud_placeholder',
    )
  // A file of written zeros has blocks on this disk.
  files.put({ 'zeros.bin': Buffer.alloc(100_000) })
  expect((await read('zeros.bin')).kind).toBe('binary')
})

test('PV3 refuses special files and files with a hard link outside', async () => {
  fill(files.granted, { 'a.txt': 'text' })
  fs.linkSync(join(files.outside, 'secret.txt'), join(files.granted, 'linked.txt'))
  fs.mkdirSync(join(files.granted, 'folder'))
  const ask = (path: string) => ({ at: granted(path), maxBytes: manyBytes })
  expect(await files.refusal('read', ask('linked.txt'))).toBe('hard_link')
  expect(await files.refusal('read', ask('folder'))).toBe('is_a_folder')
  expect(await files.refusal('read', ask('nothing'))).toBe('not_found')
})

const texts = fc
  .array(fc.constantFrom('a', 'é', '漢', '🙂', '\n', '\r\n', 'word '), { maxLength: 300 })
  .map((parts) => parts.join(''))
const codings = fc.constantFrom('utf-8', 'utf-16le', 'utf-16be')

/** Encodes a text; UTF-16 with its mark. */
function encodeText(text: string, encoding: string): Buffer {
  const mark = encoding === 'utf-8' ? '' : '\uFEFF'
  return iconv.encode(mark + text, encoding)
}

test('FT2 consecutive byte ranges are the whole text', async () => {
  await fc.assert(
    fc.asyncProperty(texts, codings, fc.integer({ min: 1, max: 200 }), async (text, name, most) => {
      files.put({ 'a.txt': encodeText(text, name) })
      let joined = ''
      for (let from: number | undefined = 0; from !== undefined;) {
        const piece = await read('a.txt', { by: 'bytes', from }, most)
        // One character is returned even if it does not fit.
        expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(
          [...piece.text].length === 1 ? 4 : most,
        )
        joined += piece.text
        from = piece.next
      }
      expect(joined).toBe(text)
    }),
    { numRuns: 60 },
  )
})

test('FT2 a byte range that starts within a character starts at the next one', async () => {
  files.put({ 'a.txt': 'aé漢🙂' })
  expect((await read('a.txt', { by: 'bytes', from: 2 })).text).toBe('漢🙂')
  expect((await read('a.txt', { by: 'bytes', from: 1, to: 5 })).text).toBe('é')
})

const lineTexts = fc
  .array(fc.tuple(fc.constantFrom('', 'a', 'zeile é', '漢字'), fc.constantFrom('\n', '\r\n')), {
    maxLength: 40,
  })
  .map((lines) => lines.map((line) => line.join('')))

test('FT2 reads the correct lines by number, from the start and from the end', async () => {
  const place = fc.integer({ min: 1, max: 45 })
  await fc.assert(
    fc.asyncProperty(
      lineTexts,
      fc.boolean(),
      codings,
      place,
      place,
      async (lines, isOpen, name, a, b) => {
        const all = isOpen ? [...lines, 'last'] : lines
        files.put({ 'a.txt': encodeText(all.join(''), name) })
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const some = await read('a.txt', { by: 'lines', from, to })
        expect(some.text).toBe(all.slice(from - 1, to).join(''))
        expect(some.next).toBe(to < all.length ? to + 1 : undefined)
        if (to >= all.length) expect(some.lines).toBe(all.length)
        expect((await read('a.txt', { by: 'head', lines: a })).text).toBe(all.slice(0, a).join(''))
        expect((await read('a.txt', { by: 'tail', lines: a })).text).toBe(all.slice(-a).join(''))
      },
    ),
    { numRuns: 60 },
  )
})

test('FT2 small pages of lines are the whole text', async () => {
  await fc.assert(
    fc.asyncProperty(lineTexts, fc.integer({ min: 60, max: 150 }), async (lines, most) => {
      files.put({ 'a.txt': lines.join('') })
      let joined = ''
      for (let from: number | undefined = 1; from !== undefined;) {
        const page = await read('a.txt', { by: 'lines', from, to: 1000 }, most)
        joined += page.text
        from = page.next
      }
      expect(joined).toBe(lines.join(''))
    }),
    { numRuns: 40 },
  )
})
