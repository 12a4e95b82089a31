// Plain JavaScript for any Node >= 20: installs the locked dependencies if needed, builds the console if requested and
// its sources changed, then runs the command under the pinned Node.
//   node scripts/run.mjs [--console] <command> [arguments]
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isNewEnough, nodeMissing, pinnedNode, pinnedPackage, stepAside } from '../bin/node.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const stamp = join(modules, '.cowork-install')
// Beside node_modules, because `npm ci` removes that folder.
const lock = join(root, '.cowork-install.lock')
const patience = 10 * 60_000

const lockFile = readFileSync(join(root, 'package-lock.json'))
const locked = JSON.parse(lockFile).packages
const isPinned = `node_modules/${pinnedPackage}` in locked
const expected = `${createHash('sha256').update(lockFile).digest('hex')} ${process.platform}-${process.arch}`

class Fault extends Error {}

const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === expected

/** Describes what is wrong with node_modules. npm writes its own record last, so an aborted install has none. */
function installFault() {
  const record = join(modules, '.package-lock.json')
  if (!existsSync(record)) return 'no record of a completed npm install'
  const present = JSON.parse(readFileSync(record)).packages
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '' || entry.link) continue
    const found = present[path]
    if (!found && entry.optional) continue
    if (found?.version !== entry.version || found?.integrity !== entry.integrity) {
      return `${path} is ${found?.version ?? 'missing'}, the lock file says ${entry.version}`
    }
  }
  return isPinned ? nodeFault(locked[`node_modules/${pinnedPackage}`].version) : undefined
}

function nodeFault(version) {
  const node = pinnedNode()
  if (!node) return `${pinnedPackage} is missing`
  try {
    const found = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
    return found === `v${version}` ? undefined : `${pinnedPackage} is ${found}, not v${version}`
  } catch (error) {
    return `${pinnedPackage} does not run here (${error.message})`
  }
}

async function install() {
  // A manual install with `npm ci` counts too.
  if (installFault()) {
    console.error('Installing dependencies (first run, or the lock file changed)…')
    // Tests need the dev packages for any NODE_ENV. stdout belongs to the command that follows.
    const code = await stepAside('npm', ['ci', '--include=dev', '--include=optional'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
    if (code !== 0) throw new Fault(`npm ci failed with ${code}; see its output above.`)
    const fault = installFault()
    if (fault) throw new Fault(`npm ci left a broken install: ${fault}. Run the command again.`)
  }
  writeFileSync(stamp, expected)
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/**
 * The lock is a folder with one file, named by its owner's pid. It appears with its owner in one rename, and only one
 * process can rename the file of a dead owner, so the lock never has two owners.
 */
function tryLock() {
  const me = String(process.pid)
  const mine = `${lock}.${me}`
  mkdirSync(mine, { recursive: true })
  writeFileSync(join(mine, me), '')
  try {
    renameSync(mine, lock)
    return true
  } catch {
    rmSync(mine, { recursive: true })
  }
  const owner = lockOwner()
  if (!owner || isAlive(Number(owner))) return false
  try {
    renameSync(join(lock, owner), join(lock, me))
    return true
  } catch {
    return false
  }
}

function lockOwner() {
  try {
    return readdirSync(lock)[0]
  } catch {
    return undefined
  }
}

function unlock() {
  const mine = `${lock}.${process.pid}`
  renameSync(lock, mine)
  rmSync(mine, { recursive: true })
}

/** Lets one of several runs install; the others wait for it. */
async function once(isDone, act) {
  if (isDone()) return
  const since = Date.now()
  for (let isReported = false; !tryLock(); isReported = true) {
    if (!isReported) console.error(`Waiting for another run (process ${lockOwner() ?? 'ending'})…`)
    if (Date.now() - since > patience) {
      throw new Fault(
        `Another run has held ${lock} for ten minutes. If it is not running, remove that folder and try again.`,
      )
    }
    await sleep(100)
  }
  try {
    if (!isDone()) await act()
  } finally {
    unlock()
  }
}

async function main([first, ...rest]) {
  const needsConsole = first === '--console'
  const [command, ...args] = needsConsole ? rest : [first, ...rest]
  if (!command) throw new Fault('Usage: node scripts/run.mjs [--console] <command> [arguments]')
  if (!isPinned && !isNewEnough()) throw new Fault(nodeMissing)
  await once(isInstalled, install)

  const node = isPinned ? pinnedNode() : process.execPath
  const path = [join(modules, '.bin'), dirname(node), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH: path, NODE_COMPILE_CACHE: join(modules, '.cache', 'compile') }
  if (needsConsole) {
    const { consoleBuild } = await import('./console.mjs')
    const { isBuilt, build } = consoleBuild({ root, node, env })
    await once(isBuilt, async () => {
      const code = await build()
      if (code !== 0) throw new Fault(`The console build failed (${code}); see its output above.`)
    })
  }
  if (command === 'node') return stepAside(node, args, { env })
  // On Windows, commands of node_modules/.bin are .cmd files, which need a shell.
  return stepAside(command, args, { env, shell: process.platform === 'win32' })
}

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof Fault)) throw error
  console.error(error.message)
  process.exit(1)
}
