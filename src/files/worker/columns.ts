/** List entries in transit: names and types in the frame head, sizes and times as binary columns in its body. */
import type { OpResponse, Columns, ListEntry, Stat } from './protocol.ts'

const letters: Readonly<Record<Stat['type'], string>> = {
  file: 'f',
  folder: 'd',
  link: 'l',
  other: 'o',
}
const types = new Map(
  Object.entries(letters).map(([type, letter]) => [letter, type as Stat['type']]),
)

export function createColumnWriter(isBare: boolean) {
  const paths: string[] = []
  const typeLetters: string[] = []
  const sizes: number[] = []
  const times: number[] = []
  const cursors = new Map<number, string>()
  return {
    count: () => paths.length,
    add(path: string, type: Stat['type'], size = 0, modifiedAt = 0, cursor = path): void {
      if (cursor !== path) cursors.set(paths.length, cursor)
      paths.push(path)
      typeLetters.push(letters[type])
      if (isBare) return
      sizes.push(size)
      times.push(modifiedAt)
    },
    take(count: number): { entries: Columns; body?: Buffer } {
      const names = paths.slice(0, count)
      const customCursors = [...cursors].filter(([index]) => index < count)
      const entries = {
        paths: names,
        types: typeLetters.slice(0, count).join(''),
        ...(customCursors.length > 0 && { cursors: Object.fromEntries(customCursors) }),
      }
      if (isBare) return { entries }
      const numbers = new Float64Array(2 * names.length)
      numbers.set(sizes.slice(0, count))
      numbers.set(times.slice(0, count), names.length)
      return { entries, body: Buffer.from(numbers.buffer) }
    },
  }
}

export function readColumns({
  entries,
  body,
}: Pick<OpResponse<'list'>, 'entries' | 'body'>): ListEntry[] {
  const { paths, types: typeLetters, cursors } = entries
  const numbers = new Float64Array(2 * paths.length)
  // Copied, because the bytes of a frame may not be aligned to eight bytes.
  if (body) new Uint8Array(numbers.buffer).set(body.subarray(0, numbers.byteLength))
  const entryList = paths.map((path, index) => ({
    path,
    type: types.get(typeLetters.charAt(index)) ?? 'other',
    size: numbers[index] ?? 0,
    modifiedAt: numbers[paths.length + index] ?? 0,
  }))
  return cursors ? entryList.map((entry, index) => withCursor(entry, cursors[index])) : entryList
}

const withCursor = (entry: ListEntry, cursor: string | undefined): ListEntry =>
  cursor === undefined ? entry : { ...entry, cursor }

export const toCursor = ({ path, cursor = path }: ListEntry): string => cursor
