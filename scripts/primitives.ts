// Reads the table of primitives in docs/governance.md, with the name of a test for each (G3).
export type Primitive = { readonly number: number; readonly name: string; readonly title: string }

export function listPrimitives(page: string): Primitive[] {
  const rows = page.matchAll(/^\| (\d+) +\| ([^|]+?) +\| [^|]+? +\| ([^|]+?) +\|$/gm)
  return Array.from(rows, ([, number, name = '', title = '']) => ({
    number: Number(number),
    name,
    title,
  }))
}

/** Returns the primitives without a passed test. A placeholder such as `%s` matches any text. */
export function findUnproved(page: string, passed: readonly string[]): Primitive[] {
  return listPrimitives(page).filter(({ title }) => {
    const parts = title
      .split(/%[sdijo]/)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const pattern = new RegExp(`(^| )${parts.join('.+')}$`)
    return !passed.some((name) => pattern.test(name))
  })
}
