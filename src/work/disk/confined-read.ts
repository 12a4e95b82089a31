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

/** Opens a regular file for reading. A FIFO does not block, and `path` itself may not be a link. */
export function openPlain(path: string): number {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new CoworkError('not_regular', 'It is not a file.')
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Opens a file of our own, that is no link, for as long as it is used. */
export function withPlain<T>(path: string, use: (file: number) => T): T {
  const file = openPlain(path)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

/** Where an open file lies. On Linux the kernel says it, so that nobody can swap a folder in between. */
export const placeOfOpen = (file: number, path: string): string =>
  process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${file}`) : realpathSync(path)

/**
 * Reads a file below a folder, where no name between the two is a link (PV4): whoever can put a link into the
 * folder must not have another file read to agents.
 */
export function readInside(folder: string, path: string, maxBytes = Infinity): Buffer {
  checkBelow(path)
  const whole = join(folder, path)
  return withPlain(whole, (file) => {
    if (placeOfOpen(file, whole) !== join(realpathSync(folder), path)) throw linked(path)
    if (fstatSync(file).size > maxBytes)
      throw new CoworkError('too_large', `it is larger than ${maxBytes / 1000} kB`)
    return readFileSync(file)
  })
}

/** The same of a text that may be missing. */
export function textInside(folder: string, path: string, maxBytes?: number): string | undefined {
  try {
    return readInside(folder, path, maxBytes).toString('utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The names in a folder below another; none where it is missing or a link. */
export function namesInside(folder: string, path: string): string[] {
  try {
    return readdirSync(checked(folder, path))
  } catch {
    return []
  }
}

/** Makes a folder below another, where no name between the two is a link: nothing is written outside. */
export function folderInside(folder: string, path: string): string {
  checkBelow(path)
  mkdirSync(nearest(folder, path), { recursive: true })
  return checked(folder, path)
}

/** Making folders follows links: one that leads out is found before anything is made behind it. */
function nearest(folder: string, path: string): string {
  const names = path.split('/')
  mkdirSync(folder, { recursive: true })
  for (let n = 1; n <= names.length; n++)
    try {
      checked(folder, names.slice(0, n).join('/'))
    } catch (error) {
      if (!isMissing(error)) throw error
      break
    }
  return join(folder, path)
}

function checked(folder: string, path: string): string {
  const whole = join(folder, path)
  if (realpathSync(whole) !== join(realpathSync(folder), path)) throw linked(path)
  return whole
}

function checkBelow(path: string): void {
  if (isAbsolute(path) || path.split(/[\\/]/).includes('..'))
    throw new CoworkError('path_escape', `${JSON.stringify(path)} leads out of its folder.`)
}

const linked = (path: string) =>
  new CoworkError('path_escape', `${path} is a link, or lies behind one; links are not followed.`)

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

const copies = '.cowork/conflicts'

/**
 * What a person saved, kept whole and byte for byte below the project's folder; `name` is its path from
 * there (W5).
 */
export function saveCopy(
  folder: string,
  written: Buffer,
  at: number,
  ending: 'yaml' | 'md' = 'yaml',
): { readonly name: string; readonly path: string } {
  const own = folderInside(folder, copies)
  const name = `${formatRfc3339(at).replaceAll(/[:.]/g, '-')}-${newId().slice(-6)}.${ending}`
  const path = join(own, name)
  writeFileAtomic(path, written, 0o644)
  return { name: join(copies, name), path }
}

/** A copy by the name that a conflict has for it, which stands in a file that people edit: never another file. */
export function readCopy(folder: string, name: unknown): Buffer | undefined {
  const [, file] = /^\.cowork[/\\]conflicts[/\\]([\w-]+\.yaml)$/.exec(String(name)) ?? []
  if (file === undefined) return undefined
  try {
    return readInside(folder, `${copies}/${file}`)
  } catch {
    return undefined
  }
}

/** Writes a new file, part by part so that others have their turn; on disk when it resolves. Gives its hash. */
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

/** Without holding a long file in memory, and so the collector up. In one go: nobody is to write meanwhile. */
export function hashFile(file: number): string {
  const digest = createHash('sha256')
  for (let position = 0; ;) {
    const length = readSync(file, scratch, { position })
    if (length === 0) return digest.digest('hex')
    digest.update(scratch.subarray(0, length))
    position += length
  }
}
