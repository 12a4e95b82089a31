import { sha256Hex } from '#base/hash.ts'
import { randomHex } from '#base/ids.ts'

export type Minted = { readonly token: string; readonly hash: string }

/** A new token and what is kept of it (I4). Whoever asks shows the token once; it is stored nowhere. */
export function mintToken(): Minted {
  const token = `sk-cowork-${randomHex(24)}`
  return { token, hash: sha256Hex(token) }
}

export const isMinted = (token: string): boolean => /^sk-cowork-[0-9a-f]{48}$/.test(token)

/** Enough to tell credentials apart in lists and in the ledger, useless to anyone who guesses. */
export const hashPrefix = (hash: string): string => hash.slice(0, 12)
