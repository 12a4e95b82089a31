import { generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAuthenticator } from '../../../test/identity/passkeys/passkeys.fixture.ts'
import type { Changes } from '../../../test/identity/passkeys/passkeys.fixture.ts'
import { algorithms, verifyAssertion, readAuthenticatorData, verifyRegistration } from './verify.ts'
import type { ExpectedChallenge } from './verify.ts'

const site = { origin: 'http://localhost:8765', rpId: 'localhost' }
const challenge = randomBytes(32).toString('base64url')
const toCreate: ExpectedChallenge = { ...site, type: 'webauthn.create', challenge }
const toGet: ExpectedChallenge = { ...site, type: 'webauthn.get', challenge }

/** An authenticator and its registered key. */
function made(algorithm: (typeof algorithms)[number] = -7, counts = true) {
  const authenticator = createAuthenticator({ algorithm, counts })
  const given = authenticator.create(challenge)
  const outcome = verifyRegistration(given, toCreate)
  if ('rejected' in outcome) throw new Error(outcome.rejected)
  return { authenticator, kept: { publicKey: given.publicKey, algorithm, ...outcome } }
}

test.each(algorithms)(
  'I6 a passkey with COSE algorithm %i can be registered and used',
  (algorithm) => {
    const { authenticator, kept } = made(algorithm)
    expect(kept.signCount).toBe(1)
    expect(verifyAssertion(kept, authenticator.get(challenge), toGet)).toEqual({ signCount: 2 })
  },
)

const bad: [string, Changes, string][] = [
  ['another challenge', { challenge: randomBytes(32).toString('base64url') }, 'wrong_challenge'],
  ['an empty challenge', { challenge: '' }, 'wrong_challenge'],
  ['a page elsewhere', { origin: 'https://evil.example' }, 'wrong_origin'],
  ['a page on another port', { origin: 'http://localhost:1' }, 'wrong_origin'],
  ['the address instead of the name', { origin: 'http://127.0.0.1:8765' }, 'wrong_origin'],
  ['an origin that only begins like ours', { origin: `${site.origin}.evil` }, 'wrong_origin'],
  ['a frame on a foreign page', { crossOrigin: true }, 'wrong_origin'],
  ['another relying party', { rpId: 'evil.example' }, 'wrong_rp'],
  ['nobody present', { flags: 0x04 }, 'not_present'],
  ['nobody verified', { flags: 0x01 }, 'not_verified'],
]

test.each(bad)('I6 a response with %s is refused', (_, changes, rejected) => {
  const { authenticator, kept } = made()
  expect(verifyAssertion(kept, authenticator.get(challenge, changes), toGet)).toEqual({ rejected })
  const fresh = createAuthenticator()
  expect(verifyRegistration(fresh.create(challenge, changes), toCreate)).toEqual({ rejected })
})

test('I6 a response of one type is refused for the other', () => {
  const { authenticator, kept } = made()
  const rejected = 'wrong_type'
  expect(verifyAssertion(kept, authenticator.get(challenge), toCreate)).toEqual({ rejected })
  expect(verifyRegistration(createAuthenticator().create(challenge), toGet)).toEqual({ rejected })
})

test('I6 registration requires the matching id and a supported key', () => {
  const given = createAuthenticator().create(challenge)
  const other = createAuthenticator()
  expect(verifyRegistration({ ...given, id: other.id }, toCreate)).toEqual({ rejected: 'wrong_id' })
  const spki = (type: 'weak' | 'curve') =>
    (type === 'weak'
      ? generateKeyPairSync('rsa', { modulusLength: 1024 })
      : generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
    ).publicKey.export({ format: 'der', type: 'spki' })
  for (const [publicKey, algorithm] of [
    [spki('weak'), -257],
    [spki('curve'), -7],
    [given.publicKey, -257],
    [given.publicKey, -8],
    [Buffer.from('no key'), -7],
  ] as const)
    expect(verifyRegistration({ ...given, publicKey, algorithm }, toCreate)).toEqual({
      rejected: 'wrong_key',
    })
})

test('I6 a signature of another key and a changed signature are refused', () => {
  const { authenticator, kept } = made()
  const other = made()
  const answer = authenticator.get(challenge)
  const rejected = 'wrong_signature'
  expect(verifyAssertion(other.kept, answer, toGet)).toEqual({ rejected })
  const empty = { ...answer, signature: Buffer.alloc(0) }
  expect(verifyAssertion(kept, empty, toGet)).toEqual({ rejected })
})

test('I6 a counter that does not increase is refused, except without a counter', () => {
  const { authenticator, kept } = made()
  const answer = authenticator.get(challenge)
  const after = { ...kept, signCount: 2 }
  expect(verifyAssertion(after, answer, toGet)).toEqual({ rejected: 'counter_back' })
  authenticator.rewind(-1)
  expect(verifyAssertion(kept, authenticator.get(challenge), toGet)).toEqual({
    rejected: 'counter_back',
  })
  const without = made(-7, false)
  expect(verifyAssertion(without.kept, without.authenticator.get(challenge), toGet)).toEqual({
    signCount: 0,
  })
})

test('I6 a response with any bit changed is refused', () => {
  const { authenticator, kept } = made(-8)
  const answer = authenticator.get(challenge)
  const parts = ['authenticatorData', 'clientData', 'signature'] as const
  fc.assert(
    fc.property(fc.constantFrom(...parts), fc.nat(), fc.nat(7), (part, at, bit) => {
      const bytes = Buffer.from(answer[part])
      const place = at % bytes.length
      bytes.writeUInt8(bytes.readUInt8(place) ^ (1 << bit), place)
      expect(verifyAssertion(kept, { ...answer, [part]: bytes }, toGet)).toHaveProperty('rejected')
    }),
  )
})

test('I6 arbitrary bytes are refused without an exception', () => {
  const { kept } = made()
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  fc.assert(
    fc.property(bytes, bytes, bytes, (authenticatorData, clientData, signature) => {
      readAuthenticatorData(authenticatorData)
      const answer = { authenticatorData, clientData, signature }
      expect(verifyAssertion(kept, answer, toGet)).toHaveProperty('rejected')
      const given = { id: 'x', publicKey: signature, algorithm: -7 as const }
      expect(
        verifyRegistration({ ...given, authenticatorData, clientData }, toCreate),
      ).toHaveProperty('rejected')
    }),
  )
})
