import { randomBytes } from 'node:crypto'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'

export type NewToken = { readonly token: string; readonly hash: string }

/** Creates an agent token and its hash (I4). The token is shown once and never stored. */
export const mintToken = (): NewToken => withHash(`sk-cowork-${randomHex(24)}`)

/** Creates a session token of a person (I6). */
export const mintSessionToken = (): NewToken => withHash(`${sessionPrefix}${randomHex(24)}`)

/** Creates the code of a sign-in link or invitation (I6): 32 random bytes in a URL-safe encoding. */
export const mintCode = (): NewToken => withHash(randomBytes(32).toString('base64url'))

const withHash = (token: string): NewToken => ({ token, hash: sha256Hex(token) })

const sessionPrefix = 'ps-cowork-'

/** Returns whether the text looks like a session token, so that a malformed one gets a matching error. */
export const isSessionToken = (token: string): boolean => token.startsWith(sessionPrefix)

/** Returns the hash of a session token, or undefined if the token is malformed. */
export const hashSessionToken = (token: string): string | undefined =>
  /^ps-cowork-[0-9a-f]{48}$/.test(token) ? sha256Hex(token) : undefined

export const isWellFormedToken = (token: string): boolean => /^sk-cowork-[0-9a-f]{48}$/.test(token)

/** Returns a prefix that identifies a credential in lists and in the ledger without revealing it. */
export const hashPrefix = (hash: string): string => hash.slice(0, 12)
