/**
 * Finds the name of the route that a request goes to, such as `GET /api/ledger/{seq}`. A fixed path wins:
 * `/api/ledger/checkpoints` is not the entry `checkpoints`.
 */
export function findRouteName(
  names: readonly string[],
  method: string,
  path: string,
): string | undefined {
  const asked = `${method} ${path}`
  if (names.includes(asked)) return asked
  const parts = asked.split('/')
  return names.find((name) => {
    const own = name.split('/')
    const isSame = (part: string, at: number) => part.startsWith('{') || part === parts[at]
    return own.length === parts.length && own.every(isSame)
  })
}
