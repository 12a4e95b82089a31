import type { Socket } from 'node:net'
import { descriptorPassing, isPipe } from '#base/descriptors.ts'
import type { DescriptorPassing } from '#base/descriptors.ts'
import { CoworkError } from '#base/errors.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'

const stdin = 0
const stdout = 1

/** How stdin and stdout can be given to the daemon, if they are of a kind that it can wait for. */
export function endsToGive(): DescriptorPassing | null {
  return isPipe(stdin) && isPipe(stdout) ? descriptorPassing() : null
}

/**
 * Says hello and sends stdin and stdout along, so that the daemon talks to the client itself and no call has to
 * come by here. Nothing may have been read from them before. Resolves with nothing if the daemon closes instead.
 */
export function giveEnds(
  socket: Socket,
  hello: object,
  passing: DescriptorPassing,
): Promise<'taken' | 'pipe' | undefined> {
  const line = Buffer.from(`${JSON.stringify({ ...hello, cowork: 2 })}\n`)
  return new Promise((resolve) => {
    let said = ''
    const read = (chunk: Buffer) => {
      said += chunk.toString()
      const [answer, rest = ''] = said.split(/(?<=\n)/, 2)
      if (answer === 'taken\n' || answer === 'pipe\n') {
        socket.off('data', read).off('close', refused).pause()
        if (rest !== '') socket.unshift(rest)
        resolve(answer === 'taken\n' ? 'taken' : 'pipe')
      }
    }
    const refused = () => resolve(undefined)
    socket.on('error', () => undefined)
    socket.on('close', refused).on('data', read)
    if (!passing.send(socket, line, [stdin, stdout])) socket.destroy()
  })
}

/** Waits, so that the client has a process to end, and one that ends with the daemon. */
export function untilEither(socket: Socket): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
    socket.on('close', () => {
      if (said === 'left\n') resolve(exitCode.ok)
      else reject(said === 'over\n' ? tokenEnded() : closedByDaemon())
    })
    socket.resume()
  })
}

const tokenEnded = () =>
  new CoworkError('auth_error', 'The token of this client has been rotated or revoked.', {
    hint: 'Make one with `cowork agents rotate <id>`, or with `cowork agents add <id>` if\nthe agent was revoked, give it to the client, and start the client again.',
  })

/** A daemon that only passes bytes on cannot say why. */
export const closedByDaemon = (): CoworkError =>
  new CoworkError('daemon_not_running', 'The daemon ended, or ended this connection.', {
    hint: '`cowork status` says if it runs; then the token may have been revoked.',
  })
