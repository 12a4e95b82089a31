import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A line to PostgreSQL that can fail in both ways lines do. What failed stays so; `mend` is for new connections. */
export type DatabaseLine = {
  /** The database by way of this line. */
  readonly url: string
  /** Everyone is hung up on, and nobody else is let in. */
  breakOff(): void
  /** Packets vanish, of those there are and of those who come. Neither end hears that the other has gone. */
  goSilent(): void
  mend(): void
  close(): Promise<void>
}

export async function openLine(url: string): Promise<DatabaseLine> {
  const to = Number(new URL(url).port)
  const calls = new Set<{ near: Socket; far: Socket; isSilent: boolean }>()
  let state: 'whole' | 'broken' | 'silent' = 'whole'

  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === 'broken') return near.destroy()
    const call = {
      near,
      far: connect({ port: to, host: '127.0.0.1', allowHalfOpen: true }),
      isSilent: state === 'silent',
    }
    calls.add(call)
    for (const [from, other] of [
      [near, call.far],
      [call.far, near],
    ] as const) {
      from.on('data', (data) => {
        if (!call.isSilent) other.write(data)
      })
      from.on('error', () => undefined)
      from.on('end', () => {
        if (!call.isSilent) other.end()
      })
      from.on('close', () => {
        if (!call.isSilent) other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const here = new URL(url)
  here.port = String((server.address() as AddressInfo).port)

  const hangUp = () => {
    for (const { near, far } of calls) {
      near.destroy()
      far.destroy()
    }
    calls.clear()
  }
  return {
    url: here.href,
    breakOff() {
      state = 'broken'
      hangUp()
    },
    goSilent() {
      state = 'silent'
      for (const call of calls) call.isSilent = true
    },
    mend() {
      state = 'whole'
    },
    async close() {
      hangUp()
      server.close()
      await once(server, 'close')
    },
  }
}
