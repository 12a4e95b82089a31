// Programs of others to measure beside, at exact versions, in folders of their own.
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
/** 100 MB, so outside of what comes and goes with an installation, and fetched only by who asks for it. */
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

/** How to start a peer; the first call installs it, and those of its group. */
export function launchOf(peer: Peer, args: readonly string[] = []): Launch {
  const { group, main } = peers[peer]
  const { folder, versions } = group
  if (!Object.entries(versions).every((one) => isInstalled(group, one))) {
    mkdirSync(folder, { recursive: true })
    const wanted = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', ['install', '--prefix', folder, ...quiet, ...wanted], {
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    })
    if (status !== 0) throw new Error(`npm could not install ${wanted.join(' and ')}`)
  }
  return { command: process.execPath, args: [join(folder, 'node_modules', peer, main), ...args] }
}
