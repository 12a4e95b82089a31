export type VersionPair = { readonly from?: string; readonly to?: string }

/** Reads the address; what it cannot mean is left out, so that no link leads to an error. */
export function parseVersionPair(search: Record<string, unknown>): VersionPair {
  const version = (name: string) => {
    const given = search[name]
    return typeof given === 'string' && /^[\da-f]{8,64}$/.test(given) ? given : undefined
  }
  const [from, to] = [version('from'), version('to')]
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
