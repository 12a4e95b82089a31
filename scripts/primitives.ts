// Reads the table of primitives in docs/governance.md, which names a test for each (G3).
export type Primitive = { readonly number: number; readonly name: string; readonly title: string }

export function primitivesIn(page: string): Primitive[] {
  const rows = page.matchAll(/^\| (\d+) +\| ([^|]+?) +\| [^|]+? +\| ([^|]+?) +\|$/gm)
  return Array.from(rows, ([, number, name = '', title = '']) => ({
    number: Number(number),
    name,
    title,
  }))
}

/** Returns the primitives whose test is not among those that passed. A placeholder such as `%s` fits any text. */
export function unprovedIn(page: string, passed: readonly string[]): Primitive[] {
  return primitivesIn(page).filter(({ title }) => {
    const parts = title
      .split(/%[sdijo]/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const pattern = new RegExp(`(^| )${parts.join('.+')}$`)
    return !passed.some((name) => pattern.test(name))
  })
}
