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
export type BodyOf = (seq: number) => Promise<string | undefined>

/** No entry comes near: what may be recorded is limited (redact.ts). */
const longestLine = 8 * 1024 * 1024
const usualTail = 64 * 1024
const newline = 0x0a
/** As a file is called that was set aside. */
const asideName = /\.aside-[0-9a-f]{8}$/
/** How a line begins: an entry, whose keys are sorted, or a file operation. */
const openings = ['{"actor":', '{"timestamp":']

/**
 * One entry a line, or several lines, in a file that only grows. A full one is renamed to `audit-<first>-<last>.jsonl`, so that
 * every entry stays reachable (L10). Its place is what it holds: nothing else has to be kept in step with it.
 * It is not fsynced line by line, because what a power cut takes from its end is written anew.
 */
export function createMirrorFile(
  path: string,
  maxBytes: number,
  onAside: (name: string) => void,
  asideIn = dirname(path),
) {
  const { dir, name, ext } = parse(path)
  let size = 0
  let inode = 0
  let first = 0
  let last = 0

  /** The last entry that is here, whole, and of this ledger; 0 when there is none. */
  async function recover(bodyOf: BodyOf): Promise<number> {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (asideIn !== dir) await moveAside()
    ;[size, inode, first, last] = [0, 0, 0, 0]
    const found = await endOf(path)
    if (found === 'torn') await truncate(path, 0)
    else if (found) {
      const whole = found.line && (await bodyOf(found.line.seq))
      // A crash can leave the first lines of an entry that has several: they are written again.
      const isPart = whole?.startsWith(`${found.line?.body}\n`)
      if (!found.line || (whole !== found.line.body && !isPart)) await setAside(path)
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

    for (const rotated of await rotatedFiles(path)) {
      const end = await endOf(rotated)
      if (typeof end === 'object' && end.line && (await bodyOf(end.line.seq)) === end.line.body)
        return end.line.seq
      await setAside(rotated)
    }
    return 0
  }

  /** What is not ours is not ours to delete. */
  async function setAside(file: string) {
    await mkdir(asideIn, { recursive: true, mode: 0o700 })
    const aside = join(asideIn, `${parse(file).name}.aside-${randomHex(4)}${ext}`)
    await rename(file, aside)
    onAside(aside)
  }

  /** What was set aside beside it before there was another place for that. */
  async function moveAside() {
    const old = (await readdir(dir)).filter(
      (file) => file.startsWith(name) && file.endsWith(ext) && asideName.test(parse(file).name),
    )
    if (old.length > 0) await mkdir(asideIn, { recursive: true, mode: 0o700 })
    for (const file of old) await rename(join(dir, file), join(asideIn, file))
  }

  /** Whether nobody deleted, replaced or wrote it since. */
  async function isAsLeft(): Promise<boolean> {
    const found = await stat(path).catch(ifMissing)
    return found ? found.size === size && (size === 0 || found.ino === inode) : size === 0
  }

  async function append(lines: readonly MirrorLine[]) {
    let waiting: MirrorLine[] = []
    let bytes = 0
    for (const line of lines) {
      const length = Buffer.byteLength(line.body) + 1
      if (size + bytes > 0 && size + bytes + length > maxBytes) {
        await write(waiting, bytes)
        await rotate()
        ;[waiting, bytes] = [[], 0]
      }
      waiting.push(line)
      bytes += length
    }
    await write(waiting, bytes)
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

  return { recover, isAsLeft, append }
}

/** The full files of a mirror, newest first. */
async function rotatedFiles(path: string): Promise<string[]> {
  const { dir, name, ext } = parse(path)
  const found = (await readdir(dir)).flatMap((file) => {
    if (!file.startsWith(`${name}-`) || !file.endsWith(ext)) return []
    const range = file.slice(name.length + 1, file.length - ext.length)
    const seq = /^\d+-(\d+)$/.exec(range)?.[1]
    return seq === undefined ? [] : [{ file: join(dir, file), seq: Number(seq) }]
  })
  return found.sort((a, b) => b.seq - a.seq).map(({ file }) => file)
}

type End = {
  readonly size: number
  readonly inode: number
  /** The last lines of the same entry and where they start. Undefined when it does not end with an entry. */
  readonly line?: MirrorLine & { readonly start: number }
  readonly end: number
  readonly first: number
}

/** How a mirror ends. `torn` when it holds nothing but the beginning of a first line. */
async function endOf(path: string): Promise<End | 'torn' | undefined> {
  const found = await open(path, 'r').catch(ifMissing)
  if (!found) return undefined
  await using file = found
  const { size, ino: inode } = await file.stat()
  for (const length of [usualTail, longestLine]) {
    const start = Math.max(0, size - length)
    const tail = await bytesOf(file, start, size - start)
    const end = tail.lastIndexOf(newline) + 1
    if (start === 0 && end === 0 && isOpening(tail)) return 'torn'
    const last = lastEntryIn(tail, end)
    if (start > 0 && last.isCut && length < longestLine) continue
    const line = last.line && { ...last.line, start: start + last.line.start }
    return { size, inode, end: start + end, first: await firstOf(file), ...(line && { line }) }
  }
  return undefined
}

/** The last lines that belong to one entry. Cut when they may begin before these bytes. */
function lastEntryIn(bytes: Buffer, end: number) {
  let start = end
  let seq: number | undefined
  while (start > 0) {
    const from = start < 2 ? 0 : bytes.lastIndexOf(newline, start - 2) + 1
    const found = seqOf(bytes.toString('utf8', from, start - 1))
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
  return openings.some((opening) => {
    const text = bytes.toString('utf8', 0, opening.length)
    return text.startsWith(opening) || opening.startsWith(text)
  })
}

async function firstOf(file: FileHandle): Promise<number> {
  for (const length of [usualTail, longestLine]) {
    const head = await bytesOf(file, 0, length)
    const end = head.indexOf(newline)
    if (end !== -1) return seqOf(head.toString('utf8', 0, end)) ?? 0
  }
  return 0
}

async function bytesOf(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position })
  return buffer.subarray(0, bytesRead)
}

function seqOf(line: string): number | undefined {
  const { seq } = (parseJson(line) ?? {}) as { seq?: unknown }
  return typeof seq === 'number' ? seq : undefined
}

function ifMissing(error: unknown): undefined {
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
  const full = (await rotatedFiles(from)).toReversed()
  const old = [...full, ...(existsSync(from) ? [from] : [])]
  const [first] = old
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const isTaken = existsSync(to) || (await rotatedFiles(to)).length > 0
  if (first === undefined || isTaken || !(await holdsEntries(first))) return false
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
async function holdsEntries(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(9), position: 0 })
  return buffer.toString('utf8', 0, bytesRead) === '{"actor":'
}
