import { mkdir, open, readdir, rename, stat, truncate } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { fsyncFolderSync } from '#base/atomic-file.ts'
import { randomHex } from '#base/ids.ts'
import { parseJson } from '#base/json.ts'
import { existsSync } from 'node:fs'

/** The text of one entry in a mirror: one line, or several joined by newlines. */
export type MirrorLine = { readonly seq: number; readonly body: string }

/** Returns the text of an entry in the mirror, if any. A file with another text belongs to another ledger. */
export type GetBody = (seq: number) => Promise<string | undefined>

/** Larger than any entry: redact.ts limits their size. */
const maxLineBytes = 8 * 1024 * 1024
const defaultTailBytes = 64 * 1024
const newline = 0x0a
/** The name of a quarantined file. */
const quarantinedName = /\.aside-[0-9a-f]{8}$/
/** The starts of lines: an entry, whose keys are sorted, or a file operation. */
const linePrefixes = ['{"actor":', '{"timestamp":']

/**
 * Creates the writer of an append-only mirror file. A full file is renamed to `audit-<first>-<last>.jsonl`, so that every
 * entry stays available (L10). The content of the file is its cursor, so no other state must match. Lines are not
 * fsynced, because lines that a power failure removes are written again.
 */
export function createMirrorFile(
  path: string,
  maxBytes: number,
  onQuarantine: (name: string) => void,
  quarantineDir = dirname(path),
) {
  const { dir, name, ext } = parse(path)
  let size = 0
  let inode = 0
  let first = 0
  let last = 0

  /** Returns the seq of the last complete entry of this ledger in the mirror, or 0. */
  async function recover(getBody: GetBody): Promise<number> {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (quarantineDir !== dir) await moveQuarantined()
    ;[size, inode, first, last] = [0, 0, 0, 0]
    const found = await readEnd(path)
    if (found === 'torn') await truncate(path, 0)
    else if (found) {
      const whole = found.line && (await getBody(found.line.seq))
      // After a crash the last entry may miss some of its lines; all of them are written again.
      const isPart = whole?.startsWith(`${found.line?.body}\n`)
      if (!found.line || (whole !== found.line.body && !isPart)) await quarantine(path)
      else {
        const end = isPart ? found.line.start : found.end
        if (end < found.size) await truncate(path, end)
        if (end > 0) {
          const { seq } = found.line
          ;[size, inode, first, last] = [end, found.inode, found.first, isPart ? seq - 1 : seq]
          return last
        }
      }
    }

    for (const rotated of await listRotated(path)) {
      const end = await readEnd(rotated)
      if (typeof end === 'object' && end.line && (await getBody(end.line.seq)) === end.line.body)
        return end.line.seq
      await quarantine(rotated)
    }
    return 0
  }

  /** Moves a file of another ledger away instead of deleting it. */
  async function quarantine(file: string) {
    await mkdir(quarantineDir, { recursive: true, mode: 0o700 })
    const aside = join(quarantineDir, `${parse(file).name}.aside-${randomHex(4)}${ext}`)
    await rename(file, aside)
    onQuarantine(aside)
  }

  /** Moves files that an earlier version quarantined next to the mirror. */
  async function moveQuarantined() {
    const old = (await readdir(dir)).filter(
      (file) =>
        file.startsWith(name) && file.endsWith(ext) && quarantinedName.test(parse(file).name),
    )
    if (old.length > 0) await mkdir(quarantineDir, { recursive: true, mode: 0o700 })
    for (const file of old) await rename(join(dir, file), join(quarantineDir, file))
  }

  /** Returns whether the file was not deleted, replaced or changed since the last write. */
  async function isUnchanged(): Promise<boolean> {
    const found = await stat(path).catch(undefinedIfMissing)
    return found ? found.size === size && (size === 0 || found.ino === inode) : size === 0
  }

  async function append(lines: readonly MirrorLine[]) {
    let pending: MirrorLine[] = []
    let bytes = 0
    for (const line of lines) {
      const length = Buffer.byteLength(line.body) + 1
      if (size + bytes > 0 && size + bytes + length > maxBytes) {
        await write(pending, bytes)
        await rotate()
        ;[pending, bytes] = [[], 0]
      }
      pending.push(line)
      bytes += length
    }
    await write(pending, bytes)
  }

  async function write(lines: readonly MirrorLine[], bytes: number) {
    const [oldest, newest] = [lines[0], lines.at(-1)]
    if (!oldest || !newest) return
    await using file = await open(path, 'a', 0o600)
    await file.appendFile(lines.map(({ body }) => `${body}\n`).join(''))
    if (size === 0) [inode, first] = [(await file.stat()).ino, oldest.seq]
    ;[size, last] = [size + bytes, newest.seq]
  }

  async function rotate() {
    {
      // Recovery only checks the name and the end of a rotated file, so the file must be complete.
      await using file = await open(path, 'r+')
      await file.sync()
    }
    await rename(path, join(dir, `${name}-${first}-${last}${ext}`))
    fsyncFolderSync(dir)
    size = 0
  }

  return { recover, isUnchanged, append }
}

/** Lists the rotated files of a mirror, newest first. */
async function listRotated(path: string): Promise<string[]> {
  const { dir, name, ext } = parse(path)
  const found = (await readdir(dir)).flatMap((file) => {
    if (!file.startsWith(`${name}-`) || !file.endsWith(ext)) return []
    const range = file.slice(name.length + 1, file.length - ext.length)
    const seq = /^\d+-(\d+)$/.exec(range)?.[1]
    return seq === undefined ? [] : [{ file: join(dir, file), seq: Number(seq) }]
  })
  return found.sort((a, b) => b.seq - a.seq).map(({ file }) => file)
}

type FileEnd = {
  readonly size: number
  readonly inode: number
  /** The last lines of the same entry and their offset. Undefined if the file does not end with an entry. */
  readonly line?: MirrorLine & { readonly start: number }
  readonly end: number
  readonly first: number
}

/** Reads the end of a mirror. Returns `torn` if the file contains only the start of a first line. */
async function readEnd(path: string): Promise<FileEnd | 'torn' | undefined> {
  const found = await open(path, 'r').catch(undefinedIfMissing)
  if (!found) return undefined
  await using file = found
  const { size, ino: inode } = await file.stat()
  for (const length of [defaultTailBytes, maxLineBytes]) {
    const start = Math.max(0, size - length)
    const tail = await readBytes(file, start, size - start)
    const end = tail.lastIndexOf(newline) + 1
    if (start === 0 && end === 0 && isOpening(tail)) return 'torn'
    const last = findLastEntry(tail, end)
    if (start > 0 && last.isCut && length < maxLineBytes) continue
    const line = last.line && { ...last.line, start: start + last.line.start }
    return { size, inode, end: start + end, first: await readFirstSeq(file), ...(line && { line }) }
  }
  return undefined
}

/** Finds the last lines of one entry. `isCut` is true if they may start before these bytes. */
function findLastEntry(bytes: Buffer, end: number) {
  let start = end
  let seq: number | undefined
  while (start > 0) {
    const from = start < 2 ? 0 : bytes.lastIndexOf(newline, start - 2) + 1
    const found = parseSeq(bytes.toString('utf8', from, start - 1))
    if (from === 0 && found === undefined) return { isCut: true, line: lineAt(start) }
    if (found === undefined || (seq !== undefined && found !== seq)) break
    ;[start, seq] = [from, found]
  }
  return { isCut: start === 0, line: lineAt(start) }

  function lineAt(from: number) {
    return seq === undefined
      ? undefined
      : { seq, body: bytes.toString('utf8', from, end - 1), start: from }
  }
}

/** Returns whether the bytes are the start of a first line. True for an empty file. */
function isOpening(bytes: Buffer): boolean {
  return linePrefixes.some((opening) => {
    const text = bytes.toString('utf8', 0, opening.length)
    return text.startsWith(opening) || opening.startsWith(text)
  })
}

async function readFirstSeq(file: FileHandle): Promise<number> {
  for (const length of [defaultTailBytes, maxLineBytes]) {
    const head = await readBytes(file, 0, length)
    const end = head.indexOf(newline)
    if (end !== -1) return parseSeq(head.toString('utf8', 0, end)) ?? 0
  }
  return 0
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position })
  return buffer.subarray(0, bytesRead)
}

function parseSeq(line: string): number | undefined {
  const { seq } = (parseJson(line) ?? {}) as { seq?: unknown }
  return typeof seq === 'number' ? seq : undefined
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

/**
 * Moves the mirror of version 0.1.0 and older from `audit.log_path`. Renames its files oldest first, so that a crash
 * leaves a shorter mirror, which is then continued. Returns false if there is nothing to move, or if the destination exists
 * or is on another disk; the log of file operations then quarantines the old files.
 */
export async function moveLedgerMirror(from: string, to: string): Promise<boolean> {
  if (!existsSync(dirname(from))) return false
  const full = (await listRotated(from)).toReversed()
  const old = [...full, ...(existsSync(from) ? [from] : [])]
  const [first] = old
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const isTaken = existsSync(to) || (await listRotated(to)).length > 0
  if (first === undefined || isTaken || !(await startsWithEntry(first))) return false
  const [was, now] = [parse(from), parse(to)]
  try {
    for (const file of old) {
      const range = parse(file).name.slice(was.name.length)
      await rename(file, join(now.dir, `${now.name}${range}${now.ext}`))
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EXDEV') return false
    throw error
  }
}

/** Returns whether a file starts with an entry, whose keys are sorted. */
async function startsWithEntry(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(9), position: 0 })
  return buffer.toString('utf8', 0, bytesRead) === '{"actor":'
}
