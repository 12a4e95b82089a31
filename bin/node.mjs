// Plain JavaScript for any Node >= 20: finds a Node that can run cowork and runs programs under it.
import { spawn } from 'node:child_process'
import { accessSync, constants as modes } from 'node:fs'
import * as module from 'node:module'
import { constants, homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = module.createRequire(import.meta.url)
const needed = 24

export const isNewEnough = () => Number(process.versions.node.split('.')[0]) >= needed

// The binary packages use `win` where Node uses `win32`. No package exists for macOS.
const platform = process.platform === 'win32' ? 'win' : process.platform
export const pinnedPackage = `node-${platform}-${process.arch}`

/** The Node that npm installed beside this package, or undefined on an unsupported platform. */
export function pinnedNode() {
  try {
    return require.resolve(`${pinnedPackage}/bin/node${platform === 'win' ? '.exe' : ''}`)
  } catch {
    return undefined
  }
}

export const nodeMissing =
  `cowork needs Node ${needed} or newer on ${process.platform}-${process.arch}, but this is ` +
  `${process.version}. Install it from https://nodejs.org and run the command again.`

/** Runs a program in this process or, if the caller's Node is too old, under the pinned Node. */
export async function launch(self, load) {
  if (isNewEnough()) {
    module.enableCompileCache(compileCache())
    await load()
  } else {
    const node = pinnedNode()
    if (!node) console.error(nodeMissing)
    // After two dashes Node does not parse our options: it has --env-file too.
    const args = ['--', fileURLToPath(self), ...process.argv.slice(2)]
    process.exit(node ? await stepAside(node, args) : 1)
  }
}

// Never the shared temporary folder: anyone who can write there could plant compiled code.
function compileCache() {
  const modules = fileURLToPath(new URL('../node_modules', import.meta.url))
  try {
    accessSync(modules, modes.W_OK)
    return join(modules, '.cache', 'compile')
  } catch {
    return join(homedir(), '.cache', 'cowork', 'compile')
  }
}

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Runs a program with our stdio and forwardedSignals signals; resolves to its exit code. */
export function stepAside(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options })
    const forward = (signal) => {
      // A terminal sends Ctrl-C to the child too; a second one would mean "stop immediately".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    }
    const end = (code) => {
      for (const signal of forwardedSignals) process.off(signal, forward)
      resolve(code)
    }
    for (const signal of forwardedSignals) process.on(signal, forward)
    child.on('error', (error) => {
      console.error(`Cannot start ${command}: ${error.message}`)
      end(127)
    })
    child.on('exit', (code, signal) => end(signal ? 128 + constants.signals[signal] : code))
  })
}
