/**
 * Starts the worker under Landlock (PV6): the launcher restricts itself, then becomes the worker with execve.
 * Restricting a running Node process would not cover the threads it has already started.
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
// The worker cannot write to the compile cache, so that it cannot plant code there. The launcher fills it once.
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
  // Landlock blocks the folder that OpenSSL was built to read its configuration from.
  '--openssl-config=/dev/null',
  '--no-addons',
  entry,
  containment,
])

/** Reads exactly one frame; the worker continues after it. */
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

/** Read-only rules for Node, its libraries and the code of this package. */
function runtimeRules(): Rule[] {
  const parentFolder = dirname(packageFolder)
  const code = [
    join(packageFolder, 'src'),
    join(packageFolder, 'package.json'),
    join(packageFolder, 'node_modules'),
    // The sibling packages, if this package is installed as a dependency.
    ...(basename(parentFolder) === 'node_modules' ? [parentFolder] : []),
    module.getCompileCacheDir(),
  ].filter((path) => path !== undefined)
  const system = ['/etc/ld.so.cache', '/etc/localtime', '/usr/share/zoneinfo', '/dev/urandom']
  return [
    ...listLoadedFiles().map((path) => ({ path, use: 'run' }) as const),
    ...[...code, ...system, '/proc/self'].map((path) => ({ path, use: 'read' }) as const),
    { path: '/dev/null', use: 'read-write' },
  ]
}

/** The executable and the shared libraries of this process, which the worker uses too. */
function listLoadedFiles(): string[] {
  const lines = fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
  const files = lines.map((line) => line.slice(line.indexOf('/'))).filter((path) => path !== '')
  return [...new Set(files.filter((path) => path.startsWith('/') && !path.startsWith('/dev/')))]
}
