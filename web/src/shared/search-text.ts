/** Returns a search parameter; blank values are undefined. */
export function searchText(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name]
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, 200) : undefined
}
