import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  sign,
  verify,
} from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { CoworkError } from '#base/errors.ts'
import { sha256, sha256Hex } from '#base/hash.ts'

/** A checkpoint (C2SP tlog-checkpoint): the ledger `origin` had this root at this size. */
export type Checkpoint = { origin: string; size: number; root: Buffer }

/** A private key. Only `sign` can access the secret, so a logged key does not leak it. */
export type SigningKey = {
  readonly name: string
  /** Eight hex digits. Daemons that share a database must share it (L5). */
  readonly keyId: string
  /** The public key as `name+id+base64`. */
  readonly vkey: string
  sign(text: string): Buffer
  /** Derives a secret of 32 bytes for one purpose (HKDF-SHA256), so that daemons with this key share it. */
  derive(purpose: string): Buffer
}

export type VerifierKey = {
  readonly name: string
  readonly keyId: string
  readonly publicKey: KeyObject
}

const ed25519 = 0x01

export function createKey(): { key: SigningKey; pem: string } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  return { key: loadKey(pem), pem }
}

/** Loads a key. The default name contains a hash of the public key, so that no two installations share an origin. */
export function loadKey(pem: string, name?: string): SigningKey {
  const privateKey = readPem(pem)
  const publicBytes = exportPublicBytes(privateKey)
  const keyName = name ?? `cowork.local/ledger/${sha256Hex(publicBytes).slice(0, 16)}`
  if (!isName(keyName))
    throw keyError(`"${keyName}" is not a key name: remove spaces and plus signs.`)
  const keyId = computeKeyId(keyName, publicBytes)
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url')
  return {
    name: keyName,
    keyId,
    vkey: `${keyName}+${keyId}+${withKeyType(publicBytes).toString('base64')}`,
    sign: (text) => sign(null, Buffer.from(text), privateKey),
    derive: (purpose) => Buffer.from(hkdfSync('sha256', seed, '', `cowork ${purpose}`, 32)),
  }
}

export function parseVkey(text: string): VerifierKey {
  // The base64 part may contain plus signs: only the first two are separators.
  const [, name = '', keyId = '', data = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  const bytes = strictBase64(data)
  if (!isName(name) || bytes === undefined)
    throw vkeyError('does not have the form name+8 hex digits+base64')
  if (bytes[0] !== ed25519 || bytes.length !== 33) throw vkeyError('is not an Ed25519 key')
  const publicBytes = bytes.subarray(1)
  if (computeKeyId(name, publicBytes) !== keyId) throw vkeyError('has a wrong key id')
  const x = publicBytes.toString('base64url')
  return {
    name,
    keyId,
    publicKey: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }),
  }
}

/** Signs a checkpoint, whose origin is the name of the key. Takes about 40 µs. */
export function signCheckpoint(
  { size, root }: { size: number; root: Buffer },
  key: SigningKey,
): string {
  const text = `${key.name}\n${size}\n${root.toString('base64')}\n`
  const signature = Buffer.concat([Buffer.from(key.keyId, 'hex'), key.sign(text)])
  return `${text}\n\u2014 ${key.name} ${signature.toString('base64')}\n`
}

/** Verifies the signature before it parses the text. */
export function verifyCheckpoint(note: string, vkey: string | VerifierKey): Checkpoint {
  const verifierKey = typeof vkey === 'string' ? parseVkey(vkey) : vkey
  const [origin = '', size = '', root = ''] = verifySignedNote(note, verifierKey).split('\n')
  if (origin !== verifierKey.name)
    throw checkpointError(`its origin is "${origin}", but the key belongs to "${verifierKey.name}"`)
  if (!/^(0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)))
    throw checkpointError(`"${size}" is not a tree size`)
  const hash = strictBase64(root)
  if (hash?.length !== 32) throw checkpointError(`"${root}" is not a root hash`)
  return { origin, size: Number(size), root: hash }
}

/** Verifies a C2SP signed note and returns its text. Ignores signatures of other keys. */
export function verifySignedNote(note: string, vkey: VerifierKey): string {
  const end = note.lastIndexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) throw checkpointError('it has no signature lines')
  // eslint-disable-next-line no-control-regex -- the format forbids exactly these
  if (/[\u0000-\u0009\u000b-\u001f]/.test(note) || !note.isWellFormed())
    throw checkpointError('it contains control characters')
  const text = note.slice(0, end + 1)
  let signed = false
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [, name, data = ''] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? []
    const bytes = strictBase64(data)
    if (name === undefined || bytes === undefined || bytes.length < 5)
      throw checkpointError(`"${line}" is not a signature line`)
    if (name !== vkey.name || bytes.toString('hex', 0, 4) !== vkey.keyId) continue
    if (!verify(null, Buffer.from(text), vkey.publicKey, bytes.subarray(4)))
      throw checkpointError(`the signature of ${name} does not match its text`)
    signed = true
  }
  if (!signed) throw checkpointError(`it is not signed by ${vkey.name}+${vkey.keyId}`)
  return text
}

const withKeyType = (publicBytes: Uint8Array) => Buffer.concat([Buffer.of(ed25519), publicBytes])

const computeKeyId = (name: string, publicBytes: Uint8Array): string =>
  sha256(Buffer.concat([Buffer.from(`${name}\n`), withKeyType(publicBytes)])).toString('hex', 0, 4)

const isName = (name: string) => /^[^\s+]+$/.test(name) && name.isWellFormed()

function exportPublicBytes(privateKey: KeyObject): Buffer {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return Buffer.from(x, 'base64url')
}

function readPem(pem: string): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey(pem)
  } catch {
    // Not attached as a cause: the parser's message may quote the key.
  }
  if (key?.asymmetricKeyType !== 'ed25519') throw keyError('The file is not an Ed25519 key in PEM.')
  return key
}

/** Decodes base64 strictly: Node ignores invalid characters, which would hide a changed byte. */
function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined
}

const checkpointError = (why: string) =>
  new CoworkError('checkpoint_invalid', `Invalid checkpoint: ${why}.`, {
    hint: 'Compare it with a copy outside the store.',
  })

const vkeyError = (why: string) =>
  new CoworkError('vkey_invalid', `The public key ${why}.`, {
    hint: 'Pass the whole line that `cowork audit export` wrote to key.pub.',
  })

const keyError = (message: string) =>
  new CoworkError('ledger_key_invalid', `Invalid ledger key. ${message}`, {
    hint: 'Restore the key file from a backup; a new key cannot continue this ledger.',
  })
