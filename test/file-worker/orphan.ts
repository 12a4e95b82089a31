// A minimal daemon: starts a worker, prints its process id and runs until it is killed.
import { join } from 'node:path'
import { silentLog } from '../../src/base/log.ts'
import { createFileWorker } from '../../src/files/worker-client.ts'
import { testFolders } from '../roots.ts'

const { setup, root } = testFolders()
const tests = root('tests', join(import.meta.dirname, '..'), { access: 'read' })
const worker = createFileWorker({
  setup: { ...setup, roots: [...setup.roots, tests] },
  log: silentLog,
  entry: join(import.meta.dirname, 'ops.ts'),
})
const { files: pid } = await worker.ask('usage', { at: { root: 'workspace', path: '' }, depth: 0 })
process.stdout.write(`${pid}\n`)
