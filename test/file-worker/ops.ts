// The real worker with other operations: a few small ones, some that misbehave, and one that tries the walls.
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { getErrno, FileError } from '../../src/files/confine/file-error.ts'
import { removeTempFiles, withTempFile } from '../../src/files/ops/atomic-publish.ts'
import type { OpMap, RunOp } from '../../src/files/worker/context.ts'
import { runWorker } from '../../src/files/worker/run.ts'

const file = { type: 'file', mode: 0o644, modifiedAt: 0, links: 1 } as const

const stat: RunOp<'stat'> = ({ roots }, { at }) => {
  // What is printed goes to the log and not between the frames.
  console.log(`stat of ${at.path}`)
  return roots.get(at.root, at.closed).stat(at.path)
}

const read: RunOp<'read'> = ({ roots }, { at }) => {
  const { fd } = roots.get(at.root, at.closed).openFile(at.path)
  try {
    const body = fs.readFileSync(fd)
    const kind = 'binary'
    const stat = { ...file, size: body.length }
    return { stat, kind, encoding: kind, mime: 'application/octet-stream', sensitive: false, body }
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Replaces whole, as a writer should. A name that begins with `slow` takes 100 ms, one with `late` longer than a
 * revocation waits, one with `stuck` for ever; with `lasting` too, and others are served meanwhile.
 */
const write: RunOp<'write'> = async ({ roots, waitForEntry }, { at }, body) => {
  const root = roots.get(at.root, at.closed)
  if (at.path.startsWith('stuck')) stall()
  if (at.path.startsWith('slow')) await sleep(100)
  if (at.path.startsWith('late')) await sleep(500)
  return root.withParent(
    at.path,
    async (parent) => {
      const { entryPath: within, name, real } = parent
      if (name.startsWith('lasting')) await withTempFile(parent, 0o600, () => new Promise(() => {}))
      const temporary = within(`.${name}.tmp`)
      fs.writeFileSync(temporary, body, { flag: 'w' })
      try {
        await waitForEntry()
        fs.renameSync(temporary, within(name))
      } finally {
        fs.rmSync(temporary, { force: true })
      }
      return { stat: { ...file, size: body.length }, real, sha256: '' }
    },
    { need: 'write' },
  )
}

/** Keeps the only thread. */
const stall = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

const usage: RunOp<'usage'> = async (_, { at }) => {
  if (at.path === 'stall') stall()
  if (at.path === 'crash') process.exit(3)
  if (at.path === 'bug') throw new TypeError('of our own making')
  if (at.path === 'babble') fs.writeSync(1, 'no frame at all, but long enough for one')
  if (at.path === 'crash once') {
    const mark = `${process.cwd()}${at.root}`
    if (!fs.existsSync(mark)) {
      fs.writeFileSync(mark, '')
      process.exit(3)
    }
  }
  return { files: process.pid, bytes: 0, folders: [], largest: [] }
}

/** Goes on, standing aside as it should, until nobody waits for it. */
const searchContent: RunOp<'searchContent'> = async ({ yieldIfDue }, _ask, _body, cancelled) => {
  while (!cancelled()) await yieldIfDue()
  throw new FileError('cancelled', 'Nobody waits for it.')
}

/** What reading a path gives in each way that Node has, and what the network gives. */
const diff: RunOp<'diff'> = async (_, { from }) => {
  const path = 'path' in from ? from.path : ''
  const outcome = (act: Promise<unknown>) =>
    act.then(
      () => 'allowed',
      (error: unknown) => getErrno(error) ?? 'failed',
    )
  const tried = {
    sync: await outcome((async () => fs.readFileSync(path))()),
    async: await outcome(fs.promises.readFile(path)),
    thread: await outcome(inThread(path)),
    list: await outcome(fs.promises.readdir('/')),
    make: await outcome(fs.promises.writeFile(`${path}.new`, '')),
    run: await outcome(promisify(execFile)('/bin/true')),
    listen: await outcome(listening()),
    connect: await outcome(connected()),
  }
  return { diff: JSON.stringify(tried), sensitive: false }
}

function inThread(path: string): Promise<void> {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    try {
      require('node:fs').readFileSync(workerData)
      parentPort.postMessage('')
    } catch (error) {
      parentPort.postMessage(error.code)
    }`
  return new Promise((resolve, reject) => {
    const thread = new Worker(source, { eval: true, workerData: path })
    thread.once('message', (code: string) =>
      code === '' ? resolve() : reject(Object.assign(new Error(code), { code })),
    )
    thread.once('error', reject)
  })
}

const listening = () =>
  new Promise<void>((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => server.close(() => resolve()))
  })

const connected = () =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(9, '127.0.0.1').once('error', reject)
    socket.once('connect', () => resolve(void socket.destroy()))
  })

const repin: RunOp<'repin'> = ({ roots }, { roots: moved }) => ({ left: roots.repin(moved) })

runWorker({ repin, stat, read, write, usage, searchContent, diff } as unknown as OpMap, {
  onShutdown: removeTempFiles,
})
