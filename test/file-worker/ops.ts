// The real worker with other operations: some small, some misbehaving, and one that tests the sandbox.
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
  // Printed output must go to the log and not between the frames.
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
 * Replaces a file atomically. A name with the prefix `slow` takes 100 ms, `late` takes longer than a revocation
 * waits, `stuck` blocks the thread forever, and `lasting` never ends while others are served.
 */
const write: RunOp<'write'> = async ({ roots, waitForEntry }, { at }, body) => {
  const root = roots.get(at.root, at.closed)
  if (at.path.startsWith('stuck')) stall()
  if (at.path.startsWith('slow')) await sleep(100)
  if (at.path.startsWith('late')) await sleep(500)
  return root.withParent(
    at.path,
    async (parent) => {
      const { entryPath, name, real } = parent
      if (name.startsWith('lasting')) await withTempFile(parent, 0o600, () => new Promise(() => {}))
      const temporary = entryPath(`.${name}.tmp`)
      fs.writeFileSync(temporary, body, { flag: 'w' })
      try {
        await waitForEntry()
        fs.renameSync(temporary, entryPath(name))
      } finally {
        fs.rmSync(temporary, { force: true })
      }
      return { stat: { ...file, size: body.length }, real, sha256: '' }
    },
    { need: 'write' },
  )
}

/** Blocks the only thread. */
const stall = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

const usage: RunOp<'usage'> = async (_, { at }) => {
  if (at.path === 'stall') stall()
  if (at.path === 'crash') process.exit(3)
  if (at.path === 'bug') throw new TypeError('deliberate test error')
  if (at.path === 'babble') fs.writeSync(1, 'not a frame, but long enough for one')
  if (at.path === 'crash once') {
    const marker = `${process.cwd()}${at.root}`
    if (!fs.existsSync(marker)) {
      fs.writeFileSync(marker, '')
      process.exit(3)
    }
  }
  return { files: process.pid, bytes: 0, folders: [], largest: [] }
}

/** Runs until it is cancelled, giving way to others. */
const searchContent: RunOp<'searchContent'> = async ({ yieldIfDue }, _ask, _body, cancelled) => {
  while (!cancelled()) await yieldIfDue()
  throw new FileError('cancelled', 'The call was cancelled.')
}

/** Tries to read a path in every way that Node offers, and to use the network. */
const diff: RunOp<'diff'> = async (_, { from }) => {
  const path = 'path' in from ? from.path : ''
  const getOutcome = (operation: Promise<unknown>) =>
    operation.then(
      () => 'allowed',
      (error: unknown) => getErrno(error) ?? 'failed',
    )
  const results = {
    sync: await getOutcome((async () => fs.readFileSync(path))()),
    async: await getOutcome(fs.promises.readFile(path)),
    thread: await getOutcome(readInThread(path)),
    list: await getOutcome(fs.promises.readdir('/')),
    make: await getOutcome(fs.promises.writeFile(`${path}.new`, '')),
    run: await getOutcome(promisify(execFile)('/bin/true')),
    listen: await getOutcome(listen()),
    connect: await getOutcome(connectToServer()),
  }
  return { diff: JSON.stringify(results), sensitive: false }
}

function readInThread(path: string): Promise<void> {
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

const listen = () =>
  new Promise<void>((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => server.close(() => resolve()))
  })

const connectToServer = () =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(9, '127.0.0.1').once('error', reject)
    socket.once('connect', () => resolve(void socket.destroy()))
  })

const repin: RunOp<'repin'> = ({ roots }, { roots: moved }) => ({ unreachable: roots.repin(moved) })

runWorker({ repin, stat, read, write, usage, searchContent, diff } as unknown as OpMap, {
  onShutdown: removeTempFiles,
})
