import { hash, timingSafeEqual } from 'node:crypto'
import canonicalize from 'canonicalize'

export const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer')

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** RFC 8785 JSON: the one spelling of a value that is hashed, signed or compared. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('only JSON values have a canonical form')
  return text
}

/** Compares by digest, so neither content nor length leaks through time. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))
