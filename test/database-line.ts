import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A proxy to PostgreSQL that can fail in two ways. Failed connections stay failed; `restore` allows new ones. */
export type DatabaseProxy = {
  /** The database URL through the proxy. */
  readonly url: string
  /** Closes all connections and refuses new ones. */
  disconnect(): void
  /** Drops the packets of all connections, so that neither end notices. */
  dropPackets(): void
  restore(): void
  close(): Promise<void>
}

export async function openProxy(url: string): Promise<DatabaseProxy> {
  const to = Number(new URL(url).port)
  const connections = new Set<{ near: Socket; far: Socket; isSilent: boolean }>()
  let state: 'whole' | 'broken' | 'silent' = 'whole'

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === 'broken') return near.destroy()
    const connection = {
      near,
      far: connect({ port: to, host: '127.0.0.1', allowHalfOpen: true }),
      isSilent: state === 'silent',
    }
    connections.add(connection)
    for (const [from, other] of [
      [near, connection.far],
      [connection.far, near],
    ] as const) {
      from.on('data', (data) => {
        if (!connection.isSilent) other.write(data)
      })
      from.on('error', () => undefined)
      from.on('end', () => {
        if (!connection.isSilent) other.end()
      })
      from.on('close', () => {
        if (!connection.isSilent) other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const here = new URL(url)
  here.port = String((server.address() as AddressInfo).port)

  const closeAll = () => {
    for (const { near, far } of connections) {
      near.destroy()
      far.destroy()
    }
    connections.clear()
  }
  return {
    url: here.href,
    disconnect() {
      state = 'broken'
      closeAll()
    },
    dropPackets() {
      state = 'silent'
      for (const call of connections) call.isSilent = true
    },
    restore() {
      state = 'whole'
    },
    async close() {
      closeAll()
      server.close()
      await once(server, 'close')
    },
  }
}
