/**
 * Starts the worker behind its second wall (PV6): restricts itself, then becomes the worker. To restrict a Node
 * that is the worker already would leave the threads it has started free.
 */
import fs from 'node:fs'
import module from 'node:module'
import { basename, dirname, join } from 'node:path'
import { createFrameReader } from './frames.ts'
import { restrict } from './landlock.ts'
import type { Rule } from './landlock.ts'
import type { WorkerSetup } from './protocol.ts'

const [, , entry = join(import.meta.dirname, 'main.ts'), ...options] = process.argv
const packageFolder = join(import.meta.dirname, '..', '..', '..')

const setup = readSetup()
// The worker may not write to the cache of compiled code, lest it plant some: it is filled here, once.
if (options.includes('--warm')) await Promise.all([import('./run.ts'), import('../ops/index.ts')])
module.flushCompileCache()

let containment = 'walk'
try {
  await restrict([...setup.roots.map(toRule), ...runtimeRules()])
  containment = 'landlock'
} catch (error) {
  fs.writeSync(2, `no Landlock: ${error instanceof Error ? error.message : String(error)}\n`)
}
process.execve?.(process.execPath, [
  process.execPath,
  ...process.execArgv,
  // Wherever OpenSSL was built to look for its settings, it may not look there any more.
  '--openssl-config=/dev/null',
  '--no-addons',
  entry,
  containment,
])

/** One frame and not a byte more; the worker reads on after it. */
function readSetup(): WorkerSetup {
  let setup: WorkerSetup | undefined
  const read = createFrameReader({ head: 2 ** 26, body: 0 }, ({ head }) => {
    setup = head as WorkerSetup
  })
  const prefix = readExactly(8)
  read(prefix)
  read(readExactly(prefix.readUInt32BE(0)))
  if (!setup) throw new Error('the worker was started without a setup')
  return setup
}

function readExactly(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length;) {
    const count = fs.readSync(0, bytes, read, length - read, null)
    if (count === 0) process.exit(0)
    read += count
  }
  return bytes
}

function toRule(root: WorkerSetup['roots'][number]): Rule {
  return { path: root.path, use: root.access, inode: root }
}

/** What Node and our own code are made of: to be read, none of it to be written. */
function runtimeRules(): Rule[] {
  const above = dirname(packageFolder)
  const code = [
    join(packageFolder, 'src'),
    join(packageFolder, 'package.json'),
    join(packageFolder, 'node_modules'),
    // Beside us, where we are installed as somebody's dependency.
    ...(basename(above) === 'node_modules' ? [above] : []),
    module.getCompileCacheDir(),
  ].filter((path) => path !== undefined)
  const system = ['/etc/ld.so.cache', '/etc/localtime', '/usr/share/zoneinfo', '/dev/urandom']
  return [
    ...listLoadedFiles().map((path) => ({ path, use: 'run' }) as const),
    ...[...code, ...system, '/proc/self'].map((path) => ({ path, use: 'read' }) as const),
    { path: '/dev/null', use: 'read-write' },
  ]
}

/** The program and the libraries this process was started from; the worker is started from the same. */
function listLoadedFiles(): string[] {
  const lines = fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
  const files = lines.map((line) => line.slice(line.indexOf('/'))).filter((path) => path !== '')
  return [...new Set(files.filter((path) => path.startsWith('/') && !path.startsWith('/dev/')))]
}
