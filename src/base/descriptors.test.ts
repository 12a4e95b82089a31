import { once } from 'node:events'
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFifo, timesOpen } from '../../test/fifo.ts'
import { closeAll, descriptorPassing, isPipe } from './descriptors.ts'

/** Two ends of a connection, of which the second reads nothing by itself. */
async function socketPair(): Promise<[Socket, Socket]> {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-socket-'))
  const server = createServer({ pauseOnConnect: true })
  server.listen(join(folder, 'socket'))
  await once(server, 'listening')
  const here = connect(join(folder, 'socket'))
  const [there] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    here.destroy()
    there.destroy()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return [here, there]
}

test('SV4 descriptors are passed where koffi is, and nowhere else', () => {
  const canPass = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)
  expect(descriptorPassing() !== null).toBe(canPass)
})

const passing = descriptorPassing()

// Where koffi is missing, or the system is another, there is no such passing.
describe.skipIf(!passing)('SV4 over a unix socket', () => {
  if (!passing) return

  test('SV4 bytes and descriptors arrive together, and no program that is started inherits them', async () => {
    const [here, there] = await socketPair()
    const { path, descriptor } = openFifo()
    expect(passing.receive(there, 100)).toBeUndefined()
    expect(passing.send(here, Buffer.from('grüße\nand more'), [descriptor, descriptor])).toBe(true)
    const got = passing.receive(there, 100)
    expect(got?.bytes.toString()).toBe('grüße\nand more')
    const descriptors = got?.descriptors ?? []
    expect(descriptors.map((one) => readlinkSync(`/proc/self/fd/${one}`))).toEqual([path, path])
    for (const one of descriptors) {
      const [, flags = ''] =
        /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${one}`, 'utf8')) ?? []
      expect(Number.parseInt(flags, 8) & 0o2000000).not.toBe(0)
    }
    expect(timesOpen(path)).toBe(3)
    closeAll(descriptors)
    expect(timesOpen(path)).toBe(1)
  })

  test('SV4 bytes without descriptors arrive, in as many pieces as there is room for', async () => {
    const [here, there] = await socketPair()
    here.write('abcdef')
    await expect.poll(() => passing.receive(there, 4)?.bytes.toString()).toBe('abcd')
    expect(passing.receive(there, 4)).toMatchObject({ bytes: Buffer.from('ef'), descriptors: [] })
    here.end()
    await expect.poll(() => passing.receive(there, 4)?.bytes.length).toBe(0)
  })

  test.each([3, 8])(
    'SV4 %d descriptors are too many, and none of them stays open',
    async (count) => {
      const [here, there] = await socketPair()
      const { path, descriptor } = openFifo()
      const many = Array.from({ length: count }, () => descriptor)
      expect(passing.send(here, Buffer.from('x'), many)).toBe(true)
      expect(() => passing.receive(there, 100)).toThrow('more descriptors came')
      expect(timesOpen(path)).toBe(1)
    },
  )

  test('SV4 what is closed is neither sent nor received from', async () => {
    const [here, there] = await socketPair()
    expect(passing.send(here, Buffer.from('x'), [9999, 9998])).toBe(false)
    there.destroy()
    expect(() => passing.receive(there, 100)).toThrow('the socket is closed')
  })
})

// Windows has no descriptors to look at.
test.skipIf(process.platform === 'win32')('SV4 only pipes and sockets count as pipes', async () => {
  expect(isPipe(openFifo().descriptor)).toBe(true)
  expect(isPipe(9999)).toBe(false)
})
