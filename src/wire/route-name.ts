/**
 * Finds the route of a request, such as `GET /api/ledger/{seq}`. A fixed path takes precedence:
 * `/api/ledger/checkpoints` is not the entry `checkpoints`.
 */
export function findRouteName(
  names: readonly string[],
  method: string,
  path: string,
): string | undefined {
  const requested = `${method} ${path}`
  if (names.includes(requested)) return requested
  const parts = requested.split('/')
  return names.find((name) => {
    const own = name.split('/')
    const isSame = (part: string, at: number) => part.startsWith('{') || part === parts[at]
    return own.length === parts.length && own.every(isSame)
  })
}
