type ToName<Item> = (item: Item) => string

/** Returns a unique name for each item: its first name that no other item has. Two buttons must not share a name. */
export function toDistinctNames<Item>(
  items: readonly Item[],
  ...namings: readonly ToName<Item>[]
): string[] {
  const columns = namings.map((naming) => items.map(naming))
  const uniqueNames = columns.map(findUniqueNames)
  return items.map((_, at) => {
    const names = columns.map((way) => way[at] ?? '')
    return names.find((name, way) => uniqueNames[way]?.has(name)) ?? `${names.at(-1)} (${at + 1})`
  })
}

function findUniqueNames(names: readonly string[]): Set<string> {
  const unique = new Set<string>()
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) unique.delete(name)
    else unique.add(name)
    seen.add(name)
  }
  return unique
}
