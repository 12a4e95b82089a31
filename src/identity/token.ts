import { randomBytes } from 'node:crypto'
import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'

export type NewToken = { readonly token: string; readonly hash: string }

/** A new token and what is kept of it (I4). Whoever asks shows the token once; it is stored nowhere. */
export const mintToken = (): NewToken => withHash(`sk-cowork-${randomHex(24)}`)

/** The same for a person's session (I6). */
export const mintSessionToken = (): NewToken => withHash(`${sessionPrefix}${randomHex(24)}`)

/** The code of a one-time link (I6): 32 random bytes that survive a URL as they are. */
export const mintCode = (): NewToken => withHash(randomBytes(32).toString('base64url'))

const withHash = (token: string): NewToken => ({ token, hash: sha256Hex(token) })

const sessionPrefix = 'ps-cowork-'

/** Whether it means to be a session's token, so that a broken one is explained as such. */
export const isSessionToken = (token: string): boolean => token.startsWith(sessionPrefix)

/** What a session is found by; nothing for a token that was never minted. */
export const hashSessionToken = (token: string): string | undefined =>
  /^ps-cowork-[0-9a-f]{48}$/.test(token) ? sha256Hex(token) : undefined

export const isWellFormedToken = (token: string): boolean => /^sk-cowork-[0-9a-f]{48}$/.test(token)

/** Enough to tell credentials apart in lists and in the ledger, useless to anyone who guesses. */
export const hashPrefix = (hash: string): string => hash.slice(0, 12)
