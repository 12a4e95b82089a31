// The two file servers of N4, each over stdio as users run it, on the same folder.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { statePaths } from '#base/state.ts'
import { cowork, startDaemon } from '../../test/daemon.ts'
import { tempFolder } from './folder.ts'
import { getLaunch } from './peers.ts'
import { startStdio } from './stdio.ts'

/** Starts cowork with a grant for the folder, a policy and a durable ledger, and the other server with the folder. */
export async function startFileServers(root: string) {
  const state = tempFolder()
  const settings = {
    server: { port: 0 },
    workspace: { path: join(state.path, 'workspace') },
    grants: [{ path: root, permission: 'read-write' }],
  }
  // JSON is YAML.
  writeFileSync(statePaths(state.path).config, JSON.stringify(settings))
  const daemon = await startDaemon(state.path)
  const { command, args, env } = cowork(state.path)
  const ours = await startStdio({ command, args: [...args, 'mcp'], env })
  const launch = getLaunch('@modelcontextprotocol/server-filesystem', [root])
  const theirs = await startStdio(launch)
  const relay = join(import.meta.dirname, 'relay.ts')
  const relayed = await startStdio({
    command: process.execPath,
    args: [relay, launch.command, ...launch.args],
  })
  const writer = join(import.meta.dirname, 'bare-writer.ts')
  const bare = await startStdio({ command: process.execPath, args: [writer] })
  return {
    ours,
    theirs,
    relayed,
    bare,
    async [Symbol.asyncDispose]() {
      await ours[Symbol.asyncDispose]()
      await theirs[Symbol.asyncDispose]()
      await relayed[Symbol.asyncDispose]()
      await bare[Symbol.asyncDispose]()
      await daemon[Symbol.asyncDispose]()
      state[Symbol.dispose]()
    },
  }
}

/** Creates small files, a hundred per folder; every thousandth has the needle in its name and text. */
export function fillTree(root: string, count: number): void {
  const words = 'the quick brown fox jumps over the lazy dog and comes back again\n'
  for (let n = 0; n < count; n++) {
    const folder = join(root, `part-${Math.floor(n / 10_000)}`, `folder-${Math.floor(n / 100)}`)
    if (n % 100 === 0) mkdirSync(folder, { recursive: true })
    const isNeedle = n % 1000 === 500
    const name = isNeedle ? `needle-${n}.txt` : `file-${n}.txt`
    writeFileSync(join(folder, name), words.repeat(8) + (isNeedle ? 'here is the needle\n' : ''))
  }
}
