// The fsyncs of a durable write: of the other server's file and folder, and of what cowork stores in addition. Besides,
// it only appends to the log, because an fsync needs changed data.
import fs from 'node:fs'
import { dirname, join } from 'node:path'

/** Bytes that the entries of a call add to the write-ahead log, from `strace`: six pages, then eleven to fourteen. */
const page = 4096 + 24
const startedBytes = 6 * page
const doneBytes = 12 * page
/** The length at which the log restarts. */
const logBytes = 4 * 1024 * 1024

export function openSyncs(folder: string) {
  const log = fs.openSync(join(folder, '.log'), 'w+')
  fs.writeSync(log, Buffer.alloc(logBytes))
  fs.fsyncSync(log)
  const kept = join(folder, '.kept')
  fs.mkdirSync(kept)
  const ahead: number[] = []
  const pages = Buffer.alloc(doneBytes, 1)
  let at = 0
  let count = 0

  function commit(bytes: number): void {
    fs.writeSync(log, pages, 0, bytes, at)
    at = (at + bytes) % (logBytes - doneBytes)
    // Like SQLite here; only a build with fdatasync would skip the file times.
    fs.fsyncSync(log)
  }

  function syncAndClose(fd: number): void {
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }

  const sync = (path: string) => syncAndClose(fs.openSync(path, 'r'))

  return {
    /** Contents written ahead but not synced, as an edit stores them: writing them is not measured. */
    keepAhead(many: number, content: string): void {
      for (let n = 0; n < many; n++) {
        const fd = fs.openSync(join(kept, String(count++)), 'wx')
        fs.writeSync(fd, content)
        ahead.push(fd)
      }
    },
    /** A new file: two entries, the file and its name. */
    create(path: string): void {
      commit(startedBytes)
      sync(path)
      sync(dirname(path))
      commit(doneBytes)
    },
    /** A changed file: also stores the old content under a name in another folder. */
    change(path: string): void {
      const old = ahead.pop()
      if (old === undefined) throw new Error('no content was written ahead')
      commit(startedBytes)
      syncAndClose(old)
      sync(kept)
      sync(path)
      sync(dirname(path))
      commit(doneBytes)
    },
    [Symbol.dispose]: () => fs.closeSync(log),
  }
}
