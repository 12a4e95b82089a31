/** What is asked of the API; a name may repeat, and what is undefined is left out. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

export function toSearchString(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value)) for (const one of value) search.append(name, String(one))
    else if (value !== undefined) search.set(name, String(value))
  return search.size > 0 ? `?${search.toString()}` : ''
}
