/** Lines of a file without reading more of it than is needed, nor keeping more than is asked for. */
import { FileError } from '../confine/file-error.ts'
import type { TextEncoding } from './encoding.ts'

/** Where the text lies: as many bytes on disk from `from` to before `to`. */
type Span = { readonly from: number; readonly to: number }
export type Lines = Span & {
  readonly next?: number
  readonly total?: number
  /** Where it begins, when lines that were asked for lie before it and did not fit. */
  readonly before?: number
}

export type Source = {
  readonly size: number
  readonly coding: TextEncoding
  read(position: number, length: number): Buffer
}

// Even, so that no character of UTF-16 is torn.
const chunkBytes = 256 * 1024

/** How many bytes on disk stand for at most so many of UTF-8. */
export function diskBudget(most: number, { encoding }: TextEncoding): number {
  if (encoding === 'utf-8') return most
  return Math.floor(encoding.startsWith('utf-16') ? (most * 2) / 3 : most / 3)
}

/** The place after the next line end, or -1. Trail bytes of no encoding are a line feed, but halves of UTF-16 are. */
function afterNewline(chunk: Buffer, from: number, { encoding }: TextEncoding): number {
  const isLittle = encoding === 'utf-16le'
  if (!isLittle && encoding !== 'utf-16be') return chunk.indexOf(10, from) + 1 || -1
  for (let at = from; ; at++) {
    at = chunk.indexOf(10, at)
    if (at === -1) return -1
    const start = isLittle ? at : at - 1
    if (start % 2 === 0 && chunk[isLittle ? at + 1 : at - 1] === 0) return start + 2
  }
}

/** Lines from the first to the last, both counted from 1, as many of them as fit. */
export async function linesBetween(
  { read, size, coding }: Source,
  { first, last, most }: { first: number; last: number; most: number },
  rest: () => Promise<void>,
): Promise<Lines> {
  const budget = diskBudget(most, coding)
  const start = coding.mark.length
  let line = 1
  let from = first === 1 ? start : -1
  let to = -1
  let toLine = first
  const isFull = (place: number) => from !== -1 && place - from > budget

  for (let position = start; position < size;) {
    const chunk = read(position, chunkBytes)
    if (chunk.length === 0) break
    for (let at = afterNewline(chunk, 0, coding); at !== -1; at = afterNewline(chunk, at, coding)) {
      const place = position + at
      if (isFull(place)) return cut()
      line++
      if (line === first) from = place
      else if (line > first) [to, toLine] = [place, line]
      if (line > last)
        return { from, to: place, ...(place < size ? { next: line } : { total: last }) }
    }
    position += chunk.length
    if (isFull(position) && position < size) return cut()
    await rest()
  }
  if (from === -1 || from >= size) return { from: size, to: size, total: linesSeen() }
  if (isFull(size)) return cut()
  return { from, to: size, total: linesSeen() }

  function cut(): Lines {
    if (to === -1) throw tooLong(first, most)
    return { from, to, next: toLine }
  }
  /** The last line end opens no line where nothing follows it. */
  function linesSeen(): number {
    return endsOpen() ? line : line - 1
  }
  function endsOpen(): boolean {
    if (size <= start) return false
    const unit = coding.encoding.startsWith('utf-16') ? 2 : 1
    const end = read(size - unit, unit)
    return afterNewline(end, 0, coding) === -1
  }
}

export async function lastLines(
  { read, size, coding }: Source,
  { count, most }: { count: number; most: number },
  rest: () => Promise<void>,
): Promise<Lines> {
  const budget = diskBudget(most, coding)
  const start = coding.mark.length
  if (count === 0) return { from: size, to: size }
  let starts: number[] = []
  // From the back, chunk by chunk, until enough line ends are found or no more fits.
  for (let end = size; end > start;) {
    const position = Math.max(start, end - chunkBytes)
    const chunk = read(position, end - position)
    const found: number[] = position === start ? [start] : []
    for (let at = afterNewline(chunk, 0, coding); at !== -1; at = afterNewline(chunk, at, coding))
      if (position + at < size) found.push(position + at)
    starts = found.concat(starts)
    if (starts.length >= count || size - position > budget) break
    end = position
    await rest()
  }
  const wanted = starts.slice(-count)
  const from = wanted.find((place) => size - place <= budget)
  if (from === undefined && size - start > budget) throw tooLong(undefined, most)
  if (from === undefined) return { from: size, to: size }
  const given = wanted.filter((place) => place >= from).length
  return { from, to: size, ...(given < count && from > start && { before: from }) }
}

const tooLong = (line: number | undefined, most: number) =>
  new FileError(
    'too_large',
    `${line === undefined ? 'The last line' : `Line ${line}`} alone is longer than ${most} bytes. Read it by bytes.`,
  )
