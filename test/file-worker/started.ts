// The worker of `ops.ts` on folders of its own, and what the tests ask it.
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

/** `more` are further roots, each in the place of one that has its key. It is closed when the test is over. */
export function startWorker({
  folders = testFolders(),
  landlock = false,
  more = [] as readonly Root[],
} = {}) {
  const { setup } = folders
  // The wall of Landlock stands around the worker of these tests too, which lies in a folder of its own.
  const own = folders.root('tests', tests, { access: 'read' })
  const usual = [...setup.roots, own].filter(({ key }) => more.every((root) => root.key !== key))
  const roots: readonly Root[] = [...usual, ...more]
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
        { at: { root, path }, how: 'put', encoding: 'binary' },
        { body: Buffer.from(content), ...options },
      ),
    search: (options?: RequestOptions) =>
      worker.ask('searchContent', { in: [], query: '', types: [], limit: 1 }, options),
    /** What reading and writing at a path comes to when the walk is not asked. */
    async probe(path: string) {
      const at = { root: '', path }
      const { diff } = await worker.ask('diff', { from: at, to: at })
      return JSON.parse(diff ?? '') as Record<string, string>
    },
  }
}

/** The code an act was refused with, or what it came to. */
export const outcome = (act: Promise<unknown>): Promise<unknown> =>
  act.catch((error: unknown) => (error instanceof CoworkError ? error.code : error))

export const isAlive = (process: number) => fs.existsSync(`/proc/${process}`)
