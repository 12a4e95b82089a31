/** Reads lines of a file without reading or storing more than needed. */
import { FileError } from '../confine/file-error.ts'
import type { TextEncoding } from './encoding.ts'

/** A range of bytes on disk; `to` is exclusive. */
type Span = { readonly from: number; readonly to: number }
export type Lines = Span & {
  readonly next?: number
  readonly total?: number
  /** The start offset, if requested lines before it did not fit. */
  readonly before?: number
}

export type Source = {
  readonly size: number
  readonly coding: TextEncoding
  read(position: number, length: number): Buffer
}

// An even number, so that no UTF-16 code unit is torn.
const chunkBytes = 256 * 1024

/** Returns the bytes on disk that are at most `maxBytes` in UTF-8. */
export function diskBudget(maxBytes: number, { encoding }: TextEncoding): number {
  if (encoding === 'utf-8') return maxBytes
  return Math.floor(encoding.startsWith('utf-16') ? (maxBytes * 2) / 3 : maxBytes / 3)
}

/** Returns the offset after the next LF, or -1. No trail byte of any encoding is an LF, but halves of UTF-16 units are. */
function findNextLine(chunk: Buffer, from: number, { encoding }: TextEncoding): number {
  const isLittle = encoding === 'utf-16le'
  if (!isLittle && encoding !== 'utf-16be') return chunk.indexOf(10, from) + 1 || -1
  for (let index = from; ; index++) {
    index = chunk.indexOf(10, index)
    if (index === -1) return -1
    const start = isLittle ? index : index - 1
    if (start % 2 === 0 && chunk[isLittle ? index + 1 : index - 1] === 0) return start + 2
  }
}

/** Returns the lines from `first` to `last`, both 1-based and inclusive, as many as fit. */
export async function linesBetween(
  { read, size, coding }: Source,
  { first, last, maxBytes }: { first: number; last: number; maxBytes: number },
  yieldNow: () => Promise<void>,
): Promise<Lines> {
  const budget = diskBudget(maxBytes, coding)
  const start = coding.mark.length
  let line = 1
  let from = first === 1 ? start : -1
  let to = -1
  let toLine = first
  const isFull = (offset: number) => from !== -1 && offset - from > budget

  for (let position = start; position < size;) {
    const chunk = read(position, chunkBytes)
    if (chunk.length === 0) break
    for (
      let index = findNextLine(chunk, 0, coding);
      index !== -1;
      index = findNextLine(chunk, index, coding)
    ) {
      const offset = position + index
      if (isFull(offset)) return truncated()
      line++
      if (line === first) from = offset
      else if (line > first) [to, toLine] = [offset, line]
      if (line > last)
        return { from, to: offset, ...(offset < size ? { next: line } : { total: last }) }
    }
    position += chunk.length
    if (isFull(position) && position < size) return truncated()
    await yieldNow()
  }
  if (from === -1 || from >= size) return { from: size, to: size, total: countLines() }
  if (isFull(size)) return truncated()
  return { from, to: size, total: countLines() }

  function truncated(): Lines {
    if (to === -1) throw lineTooLongError(first, maxBytes)
    return { from, to, next: toLine }
  }
  /** A trailing line ending does not start another line. */
  function countLines(): number {
    return hasUnterminatedLine() ? line : line - 1
  }
  function hasUnterminatedLine(): boolean {
    if (size <= start) return false
    const unit = coding.encoding.startsWith('utf-16') ? 2 : 1
    const end = read(size - unit, unit)
    return findNextLine(end, 0, coding) === -1
  }
}

export async function lastLines(
  { read, size, coding }: Source,
  { count, maxBytes }: { count: number; maxBytes: number },
  yieldNow: () => Promise<void>,
): Promise<Lines> {
  const budget = diskBudget(maxBytes, coding)
  const start = coding.mark.length
  if (count === 0) return { from: size, to: size }
  let starts: number[] = []
  // Reads backwards in chunks until there are enough lines or the budget is full.
  for (let end = size; end > start;) {
    const position = Math.max(start, end - chunkBytes)
    const chunk = read(position, end - position)
    const lineStarts: number[] = position === start ? [start] : []
    for (
      let index = findNextLine(chunk, 0, coding);
      index !== -1;
      index = findNextLine(chunk, index, coding)
    )
      if (position + index < size) lineStarts.push(position + index)
    starts = lineStarts.concat(starts)
    if (starts.length >= count || size - position > budget) break
    end = position
    await yieldNow()
  }
  const selected = starts.slice(-count)
  const from = selected.find((offset) => size - offset <= budget)
  if (from === undefined && size - start > budget) throw lineTooLongError(undefined, maxBytes)
  if (from === undefined) return { from: size, to: size }
  const fitting = selected.filter((offset) => offset >= from).length
  return { from, to: size, ...(fitting < count && from > start && { before: from }) }
}

const lineTooLongError = (line: number | undefined, maxBytes: number) =>
  new FileError(
    'too_large',
    `${line === undefined ? 'The last line' : `Line ${line}`} is longer than ${maxBytes} bytes. Read a byte range instead.`,
  )
