// Starts the worker of `ops.ts` on its own folders and wraps its operations for tests.
import fs from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { createLog } from '#base/log.ts'
import { createFileWorker } from '../../src/files/worker-client.ts'
import type { RequestOptions } from '../../src/files/worker-client.ts'
import type { Root } from '../../src/files/worker/protocol.ts'
import { testFolders } from '../roots.ts'

const tests = join(import.meta.dirname, '..')
const entry = join(import.meta.dirname, 'ops.ts')

/** Starts a worker for one test. Each of `extraRoots` replaces a root with the same key. */
export function startWorker({
  folders = testFolders(),
  landlock = false,
  extraRoots = [] as readonly Root[],
} = {}) {
  const { setup } = folders
  // Landlock also restricts the worker of these tests, whose entry is in the test folder.
  const testRoot = folders.root('tests', tests, { access: 'read' })
  const defaultRoots = [...setup.roots, testRoot].filter(({ key }) =>
    extraRoots.every((root) => root.key !== key),
  )
  const roots: readonly Root[] = [...defaultRoots, ...extraRoots]
  const lines: string[] = []
  const log = createLog({ level: 'debug', json: false, write: (line) => void lines.push(line) })
  const worker = createFileWorker({ setup: { ...setup, roots }, log, landlock, entry })
  onTestFinished(() => worker.close())

  const usage = (path: string, options?: RequestOptions) =>
    worker.ask('usage', { at: { root: 'workspace', path }, depth: 0 }, options)

  return {
    folders,
    roots,
    lines,
    worker,
    usage,
    pid: async () => (await usage('')).files,
    read: async (path: string, root = 'grant_1', options?: RequestOptions) =>
      (await worker.ask('read', { at: { root, path }, maxBytes: 1e9 }, options)).body?.toString() ??
      '',
    write: (path: string, content: string, root = 'grant_1', options: RequestOptions = {}) =>
      worker.ask(
        'write',
        { at: { root, path }, writeMode: 'put', encoding: 'binary' },
        { body: Buffer.from(content), ...options },
      ),
    search: (options?: RequestOptions) =>
      worker.ask('searchContent', { in: [], query: '', types: [], limit: 1 }, options),
    /** Returns the results of reading, writing and connecting without the walk. */
    async probe(path: string) {
      const at = { root: '', path }
      const { diff } = await worker.ask('diff', { from: at, to: at })
      return JSON.parse(diff ?? '') as Record<string, string>
    },
  }
}

/** Resolves with the result or with the error code. */
export const getOutcome = (operation: Promise<unknown>): Promise<unknown> =>
  operation.catch((error: unknown) => (error instanceof CoworkError ? error.code : error))

export const isAlive = (process: number) => fs.existsSync(`/proc/${process}`)
