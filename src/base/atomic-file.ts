import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file atomically: write, fsync, rename, fsync. After a crash it has either the old or the new content. */
export function writeFileAtomic(path: string, content: string | Buffer, mode = 0o600): void {
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    const file = openSync(part, 'wx', mode)
    try {
      writeSync(file, typeof content === 'string' ? Buffer.from(content) : content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  fsyncFolderSync(dirname(path))
}

/** Appends a line and fsyncs. A partial line that a crash left stays a separate line. */
export async function appendLine(path: string, line: string, mode = 0o600): Promise<void> {
  await using file = await open(path, 'a+', mode)
  const { size } = await file.stat()
  const last = await file.read(Buffer.alloc(1), 0, 1, Math.max(size - 1, 0))
  const isTorn = size > 0 && last.buffer.toString() !== '\n'
  await file.appendFile(`${isTorn ? '\n' : ''}${line}\n`)
  await file.sync()
}

/** Makes a rename durable. Windows cannot open a folder and does not need this. */
export function fsyncFolderSync(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Makes a rename durable without blocking the event loop. */
export async function fsyncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder, 'r')
  await handle.sync()
}
