import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { isPipe } from '#base/descriptors.ts'
import type { Ends } from './mcp/stdio.ts'

/** A client that ended its questions may take its time to read the answers, but not for ever. */
const lastBytesMs = 5000

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
    input = new Socket({ fd: stdin, readable: true, writable: false })
    return { input, output: new Socket({ fd: stdout, readable: false, writable: true }) }
  } catch (error) {
    // What Node refuses, such as a socket for datagrams, is still ours.
    if (input) input.destroy()
    else closeSync(stdin)
    closeSync(stdout)
    throw error
  }
}
