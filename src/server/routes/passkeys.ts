import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { passkeyAlgorithms } from '#identity'
import type { Identity } from '#identity'
import { identityAnswers } from '#identity/wire.ts'
import type { Context } from 'hono'
import { getRemoteAddress } from '../guards.ts'
import type { Env } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

const base64url = (most: number, what = 'base64url') =>
  z
    .string()
    .regex(/^[\w-]+$/, 'must be base64url')
    .max(most)
    .describe(what)
const bytes = base64url(16_384)
const id = base64url(1400, 'Credential id, base64url')

/** Registers and verifies passkeys of the browser (I6). */
export const passkeyRoutes = ({ identity }: { readonly identity: Identity }): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/api/passkeys/challenge',
    summary: 'Single-use challenge for the browser, valid for 2 minutes',
    by: 'human',
    body: z.strictObject({
      for: z.enum(['register', 'assert']),
      decision: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
        .optional()
        .describe('To confirm one decision: the `decision` of the passkey_required error'),
    }),
    answer: identityAnswers['POST /api/passkeys/challenge'],
    async run({ body }, c) {
      const asked = await identity.passkeys.challenge(c.get('caller'), body.for, body.decision)
      const { handle, person } = asked.user
      return {
        challenge: asked.challenge,
        rp_id: asked.rpId,
        user: { id: handle, name: person.id, display_name: person.name },
        algorithms: [...passkeyAlgorithms],
        allow: [...asked.allow],
        expires_at: formatRfc3339(asked.expiresAt),
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/passkeys',
    summary: 'Register a passkey',
    by: 'human',
    body: z.strictObject({
      id,
      public_key: base64url(4096, 'SPKI from getPublicKey(), base64url'),
      algorithm: z.literal([...passkeyAlgorithms]),
      authenticator_data: bytes,
      client_data: bytes,
      name: z.string().min(1).max(256).default('Passkey'),
    }),
    status: 201,
    answer: identityAnswers['POST /api/passkeys'],
    async run({ body }, c) {
      const input = {
        id: sameSpelling(body.id),
        name: body.name,
        algorithm: body.algorithm,
        publicKey: decoded(body.public_key),
        authenticatorData: decoded(body.authenticator_data),
        clientData: decoded(body.client_data),
      }
      const passkey = await identity.passkeys.register(input, answering(c))
      return { id: passkey.id, name: passkey.name, created_at: formatRfc3339(passkey.createdAt) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/passkeys/assert',
    summary:
      'Confirm with a passkey: one decision, or changes of settings in this session for 5 minutes',
    by: 'human',
    body: z.strictObject({
      id,
      authenticator_data: bytes,
      client_data: bytes,
      signature: bytes,
    }),
    answer: identityAnswers['POST /api/passkeys/assert'],
    async run({ body }, c) {
      const input = {
        id: sameSpelling(body.id),
        authenticatorData: decoded(body.authenticator_data),
        clientData: decoded(body.client_data),
        signature: decoded(body.signature),
      }
      return { assured_until: formatRfc3339(await identity.passkeys.assert(input, answering(c))) }
    },
  }),
]

const decoded = (text: string) => Buffer.from(text, 'base64url')
/** The last base64url character has unused bits; canonical ids keep one passkey under one id. */
const sameSpelling = (text: string) => decoded(text).toString('base64url')

const answering = (c: Context<Env>) => ({ caller: c.get('caller'), address: getRemoteAddress(c) })
