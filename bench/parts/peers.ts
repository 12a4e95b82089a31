// Programs of others to measure beside, at exact versions, in a folder of their own below node_modules.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Launch } from './stdio.ts'

const folder = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'peers')
const versions = {
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
}
export type Peer = keyof typeof versions

const manifestOf = (peer: string) => join(folder, 'node_modules', peer, 'package.json')

function isInstalled([peer, version]: [string, string]): boolean {
  if (!existsSync(manifestOf(peer))) return false
  return (
    (JSON.parse(readFileSync(manifestOf(peer), 'utf8')) as { version: string }).version === version
  )
}

/** How to start a peer; the first call installs them all. */
export function launchOf(peer: Peer, args: readonly string[] = []): Launch {
  if (!Object.entries(versions).every(isInstalled)) {
    mkdirSync(folder, { recursive: true })
    const wanted = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', ['install', '--prefix', folder, ...quiet, ...wanted], {
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
    if (status !== 0) throw new Error(`npm could not install ${wanted.join(' and ')}`)
  }
  const main = join(folder, 'node_modules', peer, 'dist', 'index.js')
  return { command: process.execPath, args: [main, ...args] }
}
