export type VersionPair = { readonly from?: string; readonly to?: string }

/** Parses search parameters; invalid values are ignored, so that no link fails. */
export function parseVersionPair(search: Record<string, unknown>): VersionPair {
  const version = (name: string) => {
    const param = search[name]
    return typeof param === 'string' && /^[\da-f]{8,64}$/.test(param) ? param : undefined
  }
  const [from, to] = [version('from'), version('to')]
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
