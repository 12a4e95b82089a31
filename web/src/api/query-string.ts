/** Search parameters of a request; an array repeats its name, undefined values are omitted. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>

export function toSearchString(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value)) for (const item of value) search.append(name, String(item))
    else if (value !== undefined) search.set(name, String(value))
  return search.size > 0 ? `?${search.toString()}` : ''
}
