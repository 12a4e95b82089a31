// The fsyncs of a durable write, whoever writes: of the other server's own file and folder, and of what ours keeps
// besides. Nothing else is done here but to append to the log, since there is no fsync of nothing.
import fs from 'node:fs'
import { dirname, join } from 'node:path'

/** What the entries of a call put into the write-ahead log, as `strace` shows: six pages, then eleven to fourteen. */
const page = 4096 + 24
const startedBytes = 6 * page
const doneBytes = 12 * page
/** The length at which the log starts over. */
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
    // As SQLite does it here; only a build that knows fdatasync would leave out the file's times.
    fs.fsyncSync(log)
  }

  function syncAndClose(fd: number): void {
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }

  const sync = (path: string) => syncAndClose(fs.openSync(path, 'r'))

  return {
    /** So many contents as an edit keeps them, written and not synced: to write them is not what is compared. */
    keepAhead(many: number, content: string): void {
      for (let n = 0; n < many; n++) {
        const fd = fs.openSync(join(kept, String(count++)), 'wx')
        fs.writeSync(fd, content)
        ahead.push(fd)
      }
    },
    /** A new file: the call's two entries, the file and its name. */
    create(path: string): void {
      commit(startedBytes)
      sync(path)
      sync(dirname(path))
      commit(doneBytes)
    },
    /** A changed one: the old content is kept besides, under a name in another folder. */
    change(path: string): void {
      const old = ahead.pop()
      if (old === undefined) throw new Error('nothing was kept ahead')
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
