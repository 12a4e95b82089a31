import { mkdir, open, readdir, rename, stat, truncate } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { syncFolder } from '#base/atomic-file.ts'
import { randomHex } from '#base/ids.ts'

export type Line = { readonly seq: number; readonly body: string }

/** Whether the ledger has this line. A mirror that ends with another one is of another ledger. */
export type IsOurs = (line: Line) => Promise<boolean>

/** No entry comes near: what may be recorded is limited (redact.ts). */
const longestLine = 8 * 1024 * 1024
const usualTail = 64 * 1024
const newline = 0x0a
/** As a file is called that was set aside. */
const asideName = /\.aside-[0-9a-f]{8}$/
/** How every entry begins, since its keys are sorted. */
const opening = '{"actor":'

/**
 * One entry a line in a file that only grows. A full one is renamed to `audit-<first>-<last>.jsonl`, so that
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
  async function recover(isOurs: IsOurs): Promise<number> {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (asideIn !== dir) await moveAside()
    ;[size, inode, first, last] = [0, 0, 0, 0]
    const found = await endOf(path)
    if (found === 'torn') await truncate(path, 0)
    else if (found && found.line && (await isOurs(found.line))) {
      if (found.end < found.size) await truncate(path, found.end)
      ;[size, inode, first, last] = [found.end, found.inode, found.first, found.line.seq]
      return last
    } else if (found) await setAside(path)

    for (const rotated of await rotatedFiles()) {
      const end = await endOf(rotated)
      if (typeof end === 'object' && end.line && (await isOurs(end.line))) return end.line.seq
      await setAside(rotated)
    }
    return 0
  }

  /** Newest first. */
  async function rotatedFiles(): Promise<string[]> {
    const found = (await readdir(dir)).flatMap((file) => {
      if (!file.startsWith(`${name}-`) || !file.endsWith(ext)) return []
      const range = file.slice(name.length + 1, file.length - ext.length)
      const seq = /^\d+-(\d+)$/.exec(range)?.[1]
      return seq === undefined ? [] : [{ file: join(dir, file), seq: Number(seq) }]
    })
    return found.sort((a, b) => b.seq - a.seq).map(({ file }) => file)
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

  async function append(lines: readonly Line[]) {
    let waiting: Line[] = []
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

  async function write(lines: readonly Line[], bytes: number) {
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
    syncFolder(dir)
    size = 0
  }

  return { recover, isAsLeft, append }
}

type End = {
  readonly size: number
  readonly inode: number
  /** Undefined when it does not end with an entry. */
  readonly line?: Line
  /** Where its last whole line ends. */
  readonly end: number
  /** Seq of its first entry. */
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
    const before = end < 2 ? -1 : tail.lastIndexOf(newline, end - 2)
    if (start === 0 && end === 0 && isOpening(tail)) return 'torn'
    if (start > 0 && before === -1 && length < longestLine) continue
    const line = lineOf(tail.toString('utf8', before + 1, Math.max(0, end - 1)))
    return { size, inode, end: start + end, first: await firstOf(file), ...(line && { line }) }
  }
  return undefined
}

/** An empty file is the beginning of one, too. */
function isOpening(bytes: Buffer): boolean {
  const text = bytes.toString('utf8', 0, opening.length)
  return text.startsWith(opening) || opening.startsWith(text)
}

async function firstOf(file: FileHandle): Promise<number> {
  for (const length of [usualTail, longestLine]) {
    const head = await bytesOf(file, 0, length)
    const end = head.indexOf(newline)
    if (end !== -1) return lineOf(head.toString('utf8', 0, end))?.seq ?? 0
  }
  return 0
}

async function bytesOf(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position })
  return buffer.subarray(0, bytesRead)
}

function lineOf(body: string): Line | undefined {
  try {
    const { seq } = JSON.parse(body) as { seq?: unknown }
    return typeof seq === 'number' ? { seq, body } : undefined
  } catch {
    return undefined
  }
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
