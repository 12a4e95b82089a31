import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import * as z from 'zod'
import { secretsEqual, sha256 } from '#base/hash.ts'
import { parseJson } from '#base/json.ts'

/** COSE numbers of the supported signatures: ES256, EdDSA (Ed25519), RS256. */
export const algorithms = [-7, -8, -257] as const
export type Algorithm = (typeof algorithms)[number]

/** The expected challenge and origin. The browser includes the origin of the page in its response. */
export type ExpectedChallenge = {
  readonly type: 'webauthn.create' | 'webauthn.get'
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
}

export type RejectionReason =
  | 'unreadable'
  | 'wrong_type'
  | 'wrong_challenge'
  | 'wrong_origin'
  | 'wrong_rp'
  | 'not_present'
  | 'not_verified'
  | 'wrong_id'
  | 'wrong_key'
  | 'wrong_signature'
  | 'counter_back'

type Rejected = { readonly rejected: RejectionReason }

export type Registration = {
  readonly id: string
  /** SPKI in DER */
  readonly publicKey: Buffer
  readonly algorithm: Algorithm
  readonly authenticatorData: Buffer
  readonly clientData: Buffer
}

export type Assertion = {
  readonly authenticatorData: Buffer
  readonly clientData: Buffer
  readonly signature: Buffer
}

export type StoredPublicKey = {
  readonly publicKey: Buffer
  readonly algorithm: Algorithm
  readonly signCount: number
}

/**
 * Verifies a new passkey (WebAuthn level 3, section 7.1, attestation none): a verified user of this page created the key
 * now. The authenticator model is not checked.
 */
export function verifyRegistration(
  { id, publicKey, algorithm, authenticatorData, clientData }: Registration,
  expected: ExpectedChallenge,
): { readonly signCount: number } | Rejected {
  const data = checkClientData(authenticatorData, clientData, expected)
  if ('rejected' in data) return data
  if (data.credential?.toString('base64url') !== id) return { rejected: 'wrong_id' }
  if (!parsePublicKey(publicKey, algorithm)) return { rejected: 'wrong_key' }
  return { signCount: data.signCount }
}

/** Verifies an assertion (section 7.2): the key signs the data of the authenticator and of the browser. */
export function verifyAssertion(
  { publicKey, algorithm, signCount }: StoredPublicKey,
  { authenticatorData, clientData, signature }: Assertion,
  question: ExpectedChallenge,
): { readonly signCount: number } | Rejected {
  const data = checkClientData(authenticatorData, clientData, question)
  if ('rejected' in data) return data
  const key = parsePublicKey(publicKey, algorithm)
  if (!key) return { rejected: 'wrong_key' }
  const signed = Buffer.concat([authenticatorData, sha256(clientData)])
  // Ed25519 includes its hash; the others sign a SHA-256.
  if (!verify(algorithm === -8 ? null : 'sha256', signed, key, signature))
    return { rejected: 'wrong_signature' }
  // A counter always increases: an equal or lower number means that a copy of the key exists.
  const counts = signCount > 0 || data.signCount > 0
  if (counts && data.signCount <= signCount) return { rejected: 'counter_back' }
  return { signCount: data.signCount }
}

const clientDataSchema = z.looseObject({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
})

function checkClientData(
  authenticatorData: Buffer,
  clientData: Buffer,
  { type, challenge, origin, rpId }: ExpectedChallenge,
): AuthenticatorData | Rejected {
  const client = clientDataSchema.safeParse(parseJson(clientData.toString('utf8')))
  const data = readAuthenticatorData(authenticatorData)
  if (!client.success || !data) return { rejected: 'unreadable' }
  if (client.data.type !== type) return { rejected: 'wrong_type' }
  if (!secretsEqual(client.data.challenge, challenge)) return { rejected: 'wrong_challenge' }
  if (client.data.origin !== origin || client.data.crossOrigin) return { rejected: 'wrong_origin' }
  if (!data.rpIdHash.equals(sha256(rpId))) return { rejected: 'wrong_rp' }
  if (!data.isPresent) return { rejected: 'not_present' }
  if (!data.isVerified) return { rejected: 'not_verified' }
  return data
}

type AuthenticatorData = {
  readonly rpIdHash: Buffer
  readonly isPresent: boolean
  readonly isVerified: boolean
  readonly signCount: number
  readonly credential?: Buffer
}

const flag = { present: 0x01, verified: 0x04, attested: 0x40 }

/** rpIdHash 32 · flags 1 · signCount 4 · [aaguid 16 · length 2 · credential id · key …] */
export function readAuthenticatorData(bytes: Buffer): AuthenticatorData | undefined {
  if (bytes.length < 37) return undefined
  const flags = bytes.readUInt8(32)
  const data = {
    rpIdHash: bytes.subarray(0, 32),
    isPresent: (flags & flag.present) !== 0,
    isVerified: (flags & flag.verified) !== 0,
    signCount: bytes.readUInt32BE(33),
  }
  if ((flags & flag.attested) === 0) return data
  if (bytes.length < 55) return undefined
  const end = 55 + bytes.readUInt16BE(53)
  return bytes.length < end ? undefined : { ...data, credential: bytes.subarray(55, end) }
}

/** Parses the public key. Returns undefined if it does not match the algorithm. */
function parsePublicKey(spki: Buffer, algorithm: Algorithm): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    return matchesAlgorithm(key, algorithm) ? key : undefined
  } catch {
    return undefined
  }
}

function matchesAlgorithm(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  algorithm: Algorithm,
) {
  switch (algorithm) {
    case -7:
      return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
    case -8:
      return asymmetricKeyType === 'ed25519'
    case -257:
      return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
  }
}
