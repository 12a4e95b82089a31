import { canonicalJson, sha256Hex } from '#base/hash.ts'

type States = Readonly<Record<string, unknown>>

/** Enough to tell two states apart; nobody reads it. */
const hashLength = 16
const hashOf = (value: unknown) => sha256Hex(canonicalJson(value)).slice(0, hashLength)

/** Hashes the states of the targets of a call by their names: neither a path nor a size is stored (A15). */
export const toFingerprint = (states: States): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(states).map(([name, state]) => [hashOf(name), hashOf(state)]),
    ),
  )

/**
 * Whether the targets are as they were when the request was opened. A person may have edited the call to have other
 * targets: then those count that both have.
 */
export function isSameState(
  stored: string | undefined,
  current: string | undefined,
  isEdited: boolean,
): boolean {
  if (stored === undefined) return true
  const before = JSON.parse(stored) as Record<string, string>
  const now = current === undefined ? {} : (JSON.parse(current) as Record<string, string>)
  return Object.entries(before).every(([name, state]) =>
    now[name] === undefined ? isEdited : now[name] === state,
  )
}
