type Naming<Item> = (item: Item) => string

/** Returns a unique name for each item: its first name that no other item has. Two buttons must not share a name. */
export function toDistinctNames<Item>(
  items: readonly Item[],
  ...namings: readonly Naming<Item>[]
): string[] {
  const ways = namings.map((naming) => items.map(naming))
  const alone = ways.map(onlyOnce)
  return items.map((_, at) => {
    const names = ways.map((way) => way[at] ?? '')
    return names.find((name, way) => alone[way]?.has(name)) ?? `${names.at(-1)} (${at + 1})`
  })
}

function onlyOnce(names: readonly string[]): Set<string> {
  const once = new Set<string>()
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) once.delete(name)
    else once.add(name)
    seen.add(name)
  }
  return once
}
