// Many listeners of the live stream in one process, below node:http: each checks that it misses no entry.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type ListenOrder = { readonly port: number; readonly token: string; readonly count: number }
export type Heard = {
  readonly deliveries: number
  readonly missed: number
  readonly behind: number
  /** Milliseconds from the entry's time to its arrival, over all deliveries. */
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const longest = 60_000
const delays = new Int32Array(longest + 1)
/** Parsed once for all listeners: the bytes are the same. */
const timeOf = new Map<number, number>()
const listeners: { seen: number }[] = []
let missed = 0

function open({ port, token }: ListenOrder): Promise<void> {
  return new Promise((resolve, reject) => {
    const listener = { seen: -1 }
    listeners.push(listener)
    let rest = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`cut off after entry ${listener.seen}`)))
    socket.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString('latin1')
      const end = text.lastIndexOf('\n\n') + 2
      rest = text.slice(end)
      const now = Date.now()
      for (let at = text.indexOf('id: '); at !== -1 && at < end; at = text.indexOf('\nid: ', at)) {
        const from = at + (text[at] === '\n' ? 5 : 4)
        const seq = Number(text.slice(from, text.indexOf('\n', from)))
        if (listener.seen === -1) resolve()
        else {
          if (seq !== listener.seen + 1) missed++
          let time = timeOf.get(seq)
          if (time === undefined)
            timeOf.set(seq, (time = Number(/"at":(\d+)/.exec(text.slice(from))?.[1])))
          const took = Math.min(Math.max(now - time, 0), longest)
          delays[took] = (delays[took] ?? 0) + 1
        }
        listener.seen = seq
        at = from
      }
    })
    socket.write(
      `GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
  })
}

function percentile(part: number): number {
  let left = delays.reduce((sum, count) => sum + count, 0) * part
  return delays.findIndex((count) => (left -= count) <= 0)
}

/** Waits until all listeners have received the entry, up to a limit. */
async function heardUpTo(last: number): Promise<Heard> {
  const isBehind = ({ seen }: { seen: number }) => seen < last
  for (let tries = 0; tries < 100 && listeners.some(isBehind); tries++) await sleep(100)
  return {
    deliveries: delays.reduce((sum, count) => sum + count, 0),
    missed,
    behind: listeners.filter(isBehind).length,
    p50: percentile(0.5),
    p99: percentile(0.99),
    max: delays.findLastIndex((count) => count > 0),
  }
}

process.on('message', (question: ListenOrder | { readonly last: number }) => {
  const answer =
    'last' in question
      ? heardUpTo(question.last)
      : Promise.all(Array.from({ length: question.count }, () => open(question)))
  void answer.then((value) => process.send?.(value))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
