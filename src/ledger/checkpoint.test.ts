import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from '#base/hash.ts'
import {
  createKey,
  loadKey,
  verifyCheckpoint,
  verifySignedNote,
  parseVkey,
  signCheckpoint,
} from './checkpoint.ts'

const { key, pem } = createKey()
const root = sha256('root')
const note = signCheckpoint({ size: 1_000_000, root }, key)

test('L5 the published key of sum.golang.org gives its published key id', () => {
  const vkey = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8'
  expect(parseVkey(vkey)).toMatchObject({ name: 'sum.golang.org', keyId: '033de0ae' })
})

test('L5 a note signed by the reference implementation verifies, a changed one does not', () => {
  const vkey = parseVkey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
  const text =
    'If you think cryptography is the answer to your problem,\n' +
    "then you don't know what your problem is.\n"
  const signature =
    '\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'
  expect(verifySignedNote(text + signature, vkey)).toBe(text)
  expect(() => verifySignedNote(text.replace('is.', 'was.') + signature, vkey)).toThrow(
    'does not match',
  )
})

test('L5 a checkpoint verifies with the public key alone', () => {
  expect(verifyCheckpoint(note, key.vkey)).toEqual({ origin: key.name, size: 1_000_000, root })
  expect(note.split('\n').slice(0, 4)).toEqual([key.name, '1000000', root.toString('base64'), ''])
})

test('L5 a key loaded from its file is the same key', () => {
  expect(loadKey(pem).vkey).toBe(key.vkey)
  expect(signCheckpoint({ size: 1_000_000, root }, loadKey(pem))).toBe(note)
  expect(loadKey(pem, 'example.org/log').keyId).not.toBe(key.keyId)
})

test('L5 a key derives one secret per purpose', () => {
  const again = loadKey(pem)
  expect(again.derive('a')).toEqual(key.derive('a'))
  const others = [key.derive('b'), createKey().key.derive('a')]
  for (const other of others) expect(other).not.toEqual(key.derive('a'))
})

test('L5 a serialized key does not contain its secret', () => {
  const secret = pem.split('\n')[1] ?? ''
  expect(JSON.stringify(key)).not.toContain(secret)
})

test('L5 a change of any character of a checkpoint is detected', () => {
  const vkey = parseVkey(key.vkey)
  const characters = [...note]
  fc.assert(
    fc.property(
      fc.nat(characters.length - 1),
      fc.constantFrom('A', 'b', '0', '9', '=', '\n', ' ', '\u2014', '\r'),
      (at, other) => {
        fc.pre(characters[at] !== other)
        const changed = characters.with(at, other).join('')
        expect(() => verifyCheckpoint(changed, vkey)).toThrow(/Invalid checkpoint/)
      },
    ),
    { numRuns: 500 },
  )
})

test('L5 a checkpoint by another key, of another origin or with a wrong shape is refused with the reason', () => {
  const other = createKey().key
  const says = (text: string) => `${text}\n\u2014 ${key.name} ${signatureOf(text)}\n`
  const signatureOf = (text: string) =>
    Buffer.concat([Buffer.from(key.keyId, 'hex'), key.sign(text)]).toString('base64')
  const base64 = root.toString('base64')
  const cases: [string, RegExp][] = [
    [signCheckpoint({ size: 1, root }, other), /is not signed by/],
    [says(`elsewhere\n1\n${base64}\n`), /its origin is "elsewhere"/],
    [says(`${key.name}\n01\n${base64}\n`), /"01" is not a tree size/],
    [says(`${key.name}\n-1\n${base64}\n`), /"-1" is not a tree size/],
    [says(`${key.name}\n9007199254740993\n${base64}\n`), /is not a tree size/],
    [says(`${key.name}\n1\n${base64.slice(4)}\n`), /is not a root hash/],
    [says(`${key.name}\n`), /is not a tree size/],
    ['', /no signature lines/],
    [note.slice(0, -1), /no signature lines/],
    [`${note}hello\n`, /"hello" is not a signature line/],
  ]
  for (const [text, why] of cases) expect(() => verifyCheckpoint(text, key.vkey)).toThrow(why)
})

test('L5 signatures by unknown keys, such as witnesses, are ignored', () => {
  const witness = createKey().key
  const lines = signCheckpoint({ size: 1_000_000, root }, key)
  const text = `${lines.slice(0, lines.indexOf('\n\n'))}\n`
  const extra = Buffer.concat([Buffer.from(witness.keyId, 'hex'), witness.sign(text)])
  const both = `${lines}\u2014 ${witness.name} ${extra.toString('base64')}\n`
  expect(verifyCheckpoint(both, key.vkey).size).toBe(1_000_000)
  expect(verifySignedNote(both, parseVkey(witness.vkey))).toBe(text)
})

test('L5 invalid keys are refused with the next step, without quoting them', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const rsaPem = rsa.export({ format: 'pem', type: 'pkcs8' }).toString()
  for (const bad of ['', 'not a key', pem.replace('MC4', 'MC5'), rsaPem])
    expect(() => loadKey(bad)).toThrow('Invalid ledger key')
  expect(() => loadKey(pem, 'a b')).toThrow('is not a key name')
  const [name = '', id = '', ...data] = key.vkey.split('+')
  const rest = data.join('+')
  for (const bad of [
    '',
    name,
    `${name}+${id}`,
    `${name}+00000000+${rest}`,
    `x+${id}+${rest}`,
    `${name}+${id}+AQ==`,
  ])
    expect(() => parseVkey(bad)).toThrow('The public key')
})
