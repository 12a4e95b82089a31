import fc from 'fast-check'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { FileError } from '../confine/file-error.ts'
import {
  detectEncoding,
  decode,
  encode,
  detectLegacy,
  getEncoding,
  detectUnicode,
  utf8,
} from './encoding.ts'

const mark = { le: Buffer.from([0xff, 0xfe]), be: Buffer.from([0xfe, 0xff]) }
const withMark = (text: string) =>
  Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])

const samples: readonly [encoding: string, text: string][] = [
  ['gb18030', '今天我们讨论了项目的进展情况。明天下午三点开会,请大家准备好各自的报告和数据。'],
  ['shift_jis', '今日は会議があります。資料を準備してください。よろしくお願いします。カタカナも。'],
  ['euc-kr', '오늘 회의에서 프로젝트 진행 상황을 논의했습니다. 내일 오후에 다시 만납시다.'],
  [
    'windows-1251',
    'Сегодня мы обсудили ход проекта. Завтра в три часа собрание, подготовьте отчёты.',
  ],
  [
    'windows-1252',
    'Les élèves français étaient très fatigués après la fête de Noël, naturellement.',
  ],
]

test.each(samples)(
  'FT2 detects a text in %s and writes it back unchanged',
  async (encoding, text) => {
    const bytes = iconv.encode(text, encoding)
    const coding = await detectEncoding(bytes)
    expect(coding?.encoding).toBe(encoding)
    if (!coding) return
    expect(decode(bytes, coding)).toBe(text)
    expect((await encode(text, coding)).equals(bytes)).toBe(true)
  },
)

test.each(['Grüße aus Köln\r\nzweite Zeile 漢字\r\n', `${samples[3]?.[1]}\n`])(
  'FT2 detects UTF-16 with and without a mark: %j',
  (text) => {
    const le = Buffer.from(text, 'utf16le')
    const be = Buffer.from(le).swap16()
    for (const [bytes, encoding] of [
      [Buffer.concat([mark.le, le]), 'utf-16le'],
      [Buffer.concat([mark.be, be]), 'utf-16be'],
      [le, 'utf-16le'],
      [be, 'utf-16be'],
    ] as const) {
      const coding = detectUnicode(bytes)
      expect(coding?.encoding).toBe(encoding)
      if (coding) expect(decode(bytes, coding)).toBe(text)
    }
  },
)

test('FT2 detects binary content', async () => {
  const numbers = Buffer.from(Uint32Array.from({ length: 500 }, (_, at) => at * 7).buffer)
  const noise = Buffer.from(Array.from({ length: 2000 }, (_, at) => (at * 167 + (at >> 3)) % 256))
  for (const bytes of [
    numbers,
    noise,
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    Buffer.from('text\0with a zero'),
    Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]),
  ])
    expect(await detectEncoding(bytes)).toBeUndefined()
})

test('FT2 detects UTF-8 in a sample that ends within a character', () => {
  const bytes = Buffer.from('x'.repeat(10) + '漢🙂é')
  for (let end = 1; end <= bytes.length; end++)
    expect(detectUnicode(bytes.subarray(0, end), false)?.encoding).toBe('utf-8')
})

const anyText = fc
  .string({ unit: 'binary', maxLength: 200 })
  .map((text) => text.replaceAll('\0', ''))

test('FT4 every text survives UTF-8 and UTF-16, with or without a mark', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const plain = text.replace(/^\uFEFF+/, '')
      for (const name of ['utf-8', 'utf-16le', 'utf-16be']) {
        const coding = await getEncoding(name)
        const bytes = await encode(plain, coding)
        expect(decode(bytes, coding)).toBe(plain)
        // UTF-8, and any encoding with a mark, is detected again from the bytes.
        expect(decode(bytes, detectUnicode(bytes) ?? coding)).toBe(plain)
      }
      const marked = withMark(plain)
      const coding = detectUnicode(marked)
      expect(coding?.mark).toHaveLength(3)
      if (coding) expect((await encode(decode(marked, coding), coding)).equals(marked)).toBe(true)
    }),
  )
})

test('FT4 refuses a character that an encoding lacks, instead of replacing it', async () => {
  const coding = await getEncoding('windows-1252')
  await expect(encode('costs 5 €', coding)).resolves.toHaveLength(9)
  await expect(encode('漢字', coding)).rejects.toThrow(FileError)
  await expect(encode('half of 😀: \ud83d', utf8)).rejects.toThrow(FileError)
  await expect(getEncoding('no-such-encoding')).rejects.toMatchObject({ code: 'unknown_encoding' })
})

test('FT2 detects a legacy encoding after a long ASCII part', async () => {
  const bytes = iconv.encode(
    `${'plain letters only\n'.repeat(8000)}${samples[4]?.[1]}`,
    'windows-1252',
  )
  expect((await detectLegacy(bytes))?.encoding).toBe('windows-1252')
})
