/** Paginates by key and not by offset, so that every page costs the same. */
export async function* paginateByKey<R extends { seq: number }>(
  page: (after: number, limit: number) => Promise<R[]>,
  size = 1000,
  start = 0,
): AsyncGenerator<R[], void> {
  for (let after = start; ;) {
    const rows = await page(after, size)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    if (rows.length < size) return
    after = last.seq
  }
}
