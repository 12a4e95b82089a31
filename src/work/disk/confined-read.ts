import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { CoworkError } from '#base/errors.ts'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { newId } from '#base/ids.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Opens a regular file for reading. A FIFO does not block, and a symbolic link is refused. */
export function openRegularFile(path: string): number {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new CoworkError('not_regular', 'Not a regular file.')
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Runs a function on an open regular file, then closes it. */
export function withRegularFile<T>(path: string, use: (file: number) => T): T {
  const file = openRegularFile(path)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Returns the path of an open file. On Linux the kernel reports it, so that a folder cannot be
 * swapped in between.
 */
export const getOpenPath = (file: number, path: string): string =>
  process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${file}`) : realpathSync(path)

/**
 * Reads a file below a folder without following links (PV4): a link in the folder must not expose
 * another file to agents.
 */
export function readInside(folder: string, path: string, maxBytes = Infinity): Buffer {
  assertRelative(path)
  const fullPath = join(folder, path)
  return withRegularFile(fullPath, (file) => {
    if (getOpenPath(file, fullPath) !== join(realpathSync(folder), path)) throw symlinkError(path)
    if (fstatSync(file).size > maxBytes)
      throw new CoworkError('too_large', `the file is larger than ${maxBytes / 1000} kB`)
    return readFileSync(file)
  })
}

/** Reads a text like `readInside`; undefined if it is missing. */
export function readTextInside(
  folder: string,
  path: string,
  maxBytes?: number,
): string | undefined {
  try {
    return readInside(folder, path, maxBytes).toString('utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Lists the names in a folder below another; empty if it is missing or a symbolic link. */
export function listInside(folder: string, path: string): string[] {
  try {
    return readdirSync(resolveWithoutLinks(folder, path))
  } catch {
    return []
  }
}

/** Creates a folder below another without following links, so that nothing is written outside. */
export function createFolderInside(folder: string, path: string): string {
  assertRelative(path)
  mkdirSync(ensureNoLinks(folder, path), { recursive: true })
  return resolveWithoutLinks(folder, path)
}

/** Checks each existing part first, because `mkdir` follows links. */
function ensureNoLinks(folder: string, path: string): string {
  const names = path.split('/')
  mkdirSync(folder, { recursive: true })
  for (let n = 1; n <= names.length; n++)
    try {
      resolveWithoutLinks(folder, names.slice(0, n).join('/'))
    } catch (error) {
      if (!isMissing(error)) throw error
      break
    }
  return join(folder, path)
}

function resolveWithoutLinks(folder: string, path: string): string {
  const fullPath = join(folder, path)
  if (realpathSync(fullPath) !== join(realpathSync(folder), path)) throw symlinkError(path)
  return fullPath
}

function assertRelative(path: string): void {
  if (isAbsolute(path) || path.split(/[\\/]/).includes('..'))
    throw new CoworkError('path_escape', `${JSON.stringify(path)} is outside its folder.`)
}

const symlinkError = (path: string) =>
  new CoworkError(
    'path_escape',
    `${path} is a symbolic link or below one; cowork does not follow links.`,
  )

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

const copies = '.cowork/conflicts'

/**
 * Saves a byte-for-byte copy of a person's file below the project folder; `name` is its relative
 * path (W5).
 */
export function saveCopy(
  folder: string,
  content: Buffer,
  at: number,
  extension: 'yaml' | 'md' = 'yaml',
): { readonly name: string; readonly path: string } {
  const copiesFolder = createFolderInside(folder, copies)
  const name = `${formatRfc3339(at).replaceAll(/[:.]/g, '-')}-${newId().slice(-6)}.${extension}`
  const path = join(copiesFolder, name)
  writeFileAtomic(path, content, 0o644)
  return { name: join(copies, name), path }
}

/**
 * Reads the copy of a conflict. People can edit its name in the file, so only files in the copies
 * folder are read.
 */
export function readCopy(folder: string, name: unknown): Buffer | undefined {
  const [, file] = /^\.cowork[/\\]conflicts[/\\]([\w-]+\.yaml)$/.exec(String(name)) ?? []
  if (file === undefined) return undefined
  try {
    return readInside(folder, `${copies}/${file}`)
  } catch {
    return undefined
  }
}

/** Writes a new file in chunks, yields between them, fsyncs it and returns its hash. */
export async function writeFileInChunks(path: string, parts: Iterable<string>): Promise<string> {
  const digest = createHash('sha256')
  await using file = await open(path, 'wx', 0o644)
  for (const part of parts) {
    const bytes = Buffer.from(part)
    digest.update(bytes)
    await file.appendFile(bytes)
  }
  await file.sync()
  return digest.digest('hex')
}

const scratch = Buffer.allocUnsafe(256 * 1024)

/**
 * Hashes a file without loading it into memory, which would burden the garbage collector.
 * Synchronous, so that no other code writes in between.
 */
export function hashFile(file: number): string {
  const digest = createHash('sha256')
  for (let position = 0; ;) {
    const length = readSync(file, scratch, { position })
    if (length === 0) return digest.digest('hex')
    digest.update(scratch.subarray(0, length))
    position += length
  }
}
