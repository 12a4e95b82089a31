import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { sha256 } from '#base/hash.ts'
import type { Algorithm } from '../../../src/identity/passkeys/verify.ts'

type Answer = {
  type: string
  challenge: string
  origin: string
  rpId: string
  flags: number
  crossOrigin: boolean
}
export type Changes = Partial<Answer>

const present = 0x01
const verified = 0x04
const attested = 0x40

/** Simulates an authenticator and its browser. */
export function createAuthenticator({
  algorithm = -7,
  origin = 'http://localhost:8765',
  rpId = 'localhost',
  counts = true,
}: { algorithm?: Algorithm; origin?: string; rpId?: string; counts?: boolean } = {}) {
  const { publicKey, privateKey } = pairFor(algorithm)
  const credential = randomBytes(32)
  const id = credential.toString('base64url')
  let count = 0

  function answer(changes: Partial<Answer> & Pick<Answer, 'type' | 'challenge'>, more: Buffer[]) {
    const given = { origin, rpId, flags: present | verified, crossOrigin: false, ...changes }
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(counts ? ++count : 0)
    const { type, challenge, crossOrigin } = given
    return {
      authenticatorData: Buffer.concat([
        sha256(given.rpId),
        Buffer.from([given.flags | (more.length > 0 ? attested : 0)]),
        counter,
        ...more,
      ]),
      clientData: Buffer.from(
        JSON.stringify({ type, challenge, origin: given.origin, crossOrigin }),
      ),
    }
  }

  return {
    id,
    algorithm,
    /** Sets the counter back, like a copy of the key. */
    rewind: (to: number) => void (count = to),
    create(challenge: string, changes: Changes = {}) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credential.length)
      // The COSE key that follows is omitted: the service uses the SPKI.
      const more = [Buffer.alloc(16), length, credential, Buffer.from([0xa0])]
      return {
        id,
        algorithm,
        publicKey: publicKey.export({ format: 'der', type: 'spki' }),
        ...answer({ type: 'webauthn.create', challenge, ...changes }, more),
      }
    },
    get(challenge: string, changes: Changes = {}) {
      const clientData = answer({ type: 'webauthn.get', challenge, ...changes }, [])
      const signed = Buffer.concat([clientData.authenticatorData, sha256(clientData.clientData)])
      const signature = sign(algorithm === -8 ? null : 'sha256', signed, privateKey)
      return { id, ...clientData, signature }
    },
  }
}

function pairFor(algorithm: Algorithm) {
  if (algorithm === -7) return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (algorithm === -8) return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}
