// Peers to compare with, at exact versions, in separate folders.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Launch } from './stdio.ts'

type Group = { readonly folder: string; readonly versions: Readonly<Record<string, string>> }

const small: Group = {
  folder: join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'peers'),
  versions: {
    '@modelcontextprotocol/server-everything': '2026.8.31',
    '@modelcontextprotocol/server-filesystem': '2026.8.31',
  },
}
/** 100 MB, so it survives reinstalls and is fetched only on request. */
const large: Group = {
  folder: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cowork-bench'),
  versions: { 'backlog.md': '1.52.0' },
}
const peers = {
  '@modelcontextprotocol/server-everything': { group: small, main: join('dist', 'index.js') },
  '@modelcontextprotocol/server-filesystem': { group: small, main: join('dist', 'index.js') },
  'backlog.md': { group: large, main: 'cli.js' },
}
export type Peer = keyof typeof peers

function isInstalled({ folder }: Group, [peer, version]: [string, string]): boolean {
  const manifest = join(folder, 'node_modules', peer, 'package.json')
  if (!existsSync(manifest)) return false
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version === version
}

/** Returns how to start a peer; the first call installs its group. */
export function getLaunch(peer: Peer, args: readonly string[] = []): Launch {
  const { group, main } = peers[peer]
  const { folder, versions } = group
  if (!Object.entries(versions).every((entry) => isInstalled(group, entry))) {
    mkdirSync(folder, { recursive: true })
    const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', ['install', '--prefix', folder, ...quiet, ...packages], {
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
    if (status !== 0) throw new Error(`npm could not install ${packages.join(' and ')}`)
  }
  return { command: process.execPath, args: [join(folder, 'node_modules', peer, main), ...args] }
}
