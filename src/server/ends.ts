import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { isPipe } from '#base/descriptors.ts'
import type { Ends } from './mcp/stdio.ts'

/** A client that ended its questions may take its time to read the answers, but not for ever. */
export const lastBytesMs = 5000

export type TakenEnds = Ends & {
  /** Whether the client closed one of them, or ended. */
  hasLeft(): boolean
  /** Resolves when the last answer is out, or nobody can be expected to read it any more. */
  flushed(): Promise<void>
  close(): void
}

/** Stdin and stdout of a bridge, to be read and written here. Throws, and closes both, if they cannot be. */
export function openEnds(descriptors: readonly number[]): TakenEnds {
  const { input, output } = opened(descriptors)
  let hasLeft = false
  const left = () => (hasLeft = true)
  input.on('end', left).on('error', left)
  output.on('error', left)
  const closed = new Promise<void>((done) => output.once('close', () => done()))
  const close = () => {
    input.destroy()
    output.destroy()
  }
  return {
    input,
    output,
    hasLeft: () => hasLeft,
    async flushed() {
      const timer = setTimeout(close, lastBytesMs)
      await closed
      clearTimeout(timer)
    },
    close,
  }
}

/**
 * They become non-blocking for everyone who has them. That does no harm: the bridge reads and writes neither,
 * and as it ends Node makes them what they were when it began.
 */
function opened([stdin = -1, stdout = -1]: readonly number[]): {
  readonly input: Socket
  readonly output: Socket
} {
  let input: Socket | undefined
  try {
    if (!isPipe(stdin) || !isPipe(stdout)) throw new Error('its ends are not pipes')
    input = openInput(stdin)
    return { input, output: new Socket({ fd: stdout, readable: false, writable: true }) }
  } catch (error) {
    // What Node refuses, such as a socket for datagrams, is still ours.
    if (input) input.destroy()
    else closeSync(stdin)
    closeSync(stdout)
    throw error
  }
}

/** As much as a pipe holds. One for all: what was read is taken before anything else is read. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * Its chunks are their reader's for as long as the event lasts. A stream would make a new buffer for each read,
 * and a large message leave so much behind that a quarter of the time goes into clearing it away.
 */
function openInput(fd: number): Socket {
  const input: Socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: { buffer, callback },
  })
  function callback(length: number): boolean {
    const chunk = buffer.subarray(0, length)
    // What comes before anybody listens waits as in any other stream.
    if (!input.emit('data', chunk)) input.push(Buffer.from(chunk))
    return true
  }
  return input
}
