// What the disk takes for a durable write, whoever does it: the same bytes to the same places, and nothing else.
import fs from 'node:fs'
import { join } from 'node:path'

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
  const pages = Buffer.alloc(doneBytes, 1)
  let at = 0
  let count = 0

  function commit(bytes: number): void {
    fs.writeSync(log, pages, 0, bytes, at)
    at = (at + bytes) % (logBytes - doneBytes)
    // As SQLite does it here; only a build that knows fdatasync would leave out the file's times.
    fs.fsyncSync(log)
  }

  function writeSynced(bytes: Uint8Array): void {
    const path = join(folder, `synced-${count++}`)
    const fd = fs.openSync(path, 'wx')
    fs.writeSync(fd, bytes)
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }

  function syncFolder(): void {
    const fd = fs.openSync(folder, 'r')
    fs.fsyncSync(fd)
    fs.closeSync(fd)
  }

  return {
    /** A new file: the call's two entries, the file and its name. */
    create(bytes: Uint8Array): void {
      commit(startedBytes)
      writeSynced(bytes)
      syncFolder()
      commit(doneBytes)
    },
    /** A changed one: the old content is kept besides, under a name in another folder. */
    change(bytes: Uint8Array): void {
      commit(startedBytes)
      writeSynced(bytes)
      writeSynced(bytes)
      for (let folders = 0; folders < 2; folders++) syncFolder()
      commit(doneBytes)
    },
    [Symbol.dispose]: () => fs.closeSync(log),
  }
}
