import { mkdir, open, readdir, rename, stat, truncate } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { fsyncFolderSync } from '#base/atomic-file.ts'
import { randomHex } from '#base/ids.ts'
import { parseJson } from '#base/json.ts'
import { existsSync } from 'node:fs'

/** What the mirror holds of one entry: a line, or several joined by newlines. */
export type MirrorLine = { readonly seq: number; readonly body: string }

/** What the mirror holds of an entry, if anything. A mirror that ends otherwise is of another ledger. */
export type GetBody = (seq: number) => Promise<string | undefined>

/** No entry comes near: what may be recorded is limited (redact.ts). */
const maxLineBytes = 8 * 1024 * 1024
const defaultTailBytes = 64 * 1024
const newline = 0x0a
/** As a file is called that was set aside. */
const quarantinedName = /\.aside-[0-9a-f]{8}$/
/** How a line begins: an entry, whose keys are sorted, or a file operation. */
const linePrefixes = ['{"actor":', '{"timestamp":']

/**
 * One entry a line, or several lines, in a file that only grows. A full one is renamed to `audit-<first>-<last>.jsonl`, so that
 * every entry stays reachable (L10). Its place is what it holds: nothing else has to be kept in step with it.
 * It is not fsynced line by line, because what a power cut takes from its end is written anew.
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

  /** The last entry that is here, whole, and of this ledger; 0 when there is none. */
  async function recover(getBody: GetBody): Promise<number> {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (quarantineDir !== dir) await moveQuarantined()
    ;[size, inode, first, last] = [0, 0, 0, 0]
    const found = await readEnd(path)
    if (found === 'torn') await truncate(path, 0)
    else if (found) {
      const whole = found.line && (await getBody(found.line.seq))
      // A crash can leave the first lines of an entry that has several: they are written again.
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

  /** What is not ours is not ours to delete. */
  async function quarantine(file: string) {
    await mkdir(quarantineDir, { recursive: true, mode: 0o700 })
    const aside = join(quarantineDir, `${parse(file).name}.aside-${randomHex(4)}${ext}`)
    await rename(file, aside)
    onQuarantine(aside)
  }

  /** What was set aside beside it before there was another place for that. */
  async function moveQuarantined() {
    const old = (await readdir(dir)).filter(
      (file) =>
        file.startsWith(name) && file.endsWith(ext) && quarantinedName.test(parse(file).name),
    )
    if (old.length > 0) await mkdir(quarantineDir, { recursive: true, mode: 0o700 })
    for (const file of old) await rename(join(dir, file), join(quarantineDir, file))
  }

  /** Whether nobody deleted, replaced or wrote it since. */
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
      // From here on only its name and its end are looked at, so it must be whole.
      await using file = await open(path, 'r+')
      await file.sync()
    }
    await rename(path, join(dir, `${name}-${first}-${last}${ext}`))
    fsyncFolderSync(dir)
    size = 0
  }

  return { recover, isUnchanged, append }
}

/** The full files of a mirror, newest first. */
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
  /** The last lines of the same entry and where they start. Undefined when it does not end with an entry. */
  readonly line?: MirrorLine & { readonly start: number }
  readonly end: number
  readonly first: number
}

/** How a mirror ends. `torn` when it holds nothing but the beginning of a first line. */
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

/** The last lines that belong to one entry. Cut when they may begin before these bytes. */
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

/** An empty file is the beginning of one, too. */
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
 * Up to 0.1.0 `audit.log_path` held the copy of the ledger. Renames it and its full files, oldest first, so that a
 * crash in between leaves a copy that ends early and is continued. False when there is nothing to move or the new
 * place is taken or on another disk: then the log of file operations sets the old files aside.
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

/** Whether a file begins as an entry does, whose keys are sorted. */
async function startsWithEntry(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(9), position: 0 })
  return buffer.toString('utf8', 0, bytesRead) === '{"actor":'
}
