/**
 * Open files that one process hands another over a unix socket (SCM_RIGHTS, unix(7)). Node has no call for it;
 * where koffi is missing, or the system is another, there is none.
 */
import { closeSync, fstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type * as Koffi from 'koffi'

export type Received = { readonly bytes: Buffer; readonly descriptors: readonly number[] }

export type DescriptorPassing = {
  /** False when not all of it went, and the connection is of no use any more. */
  send(socket: Socket, bytes: Buffer, descriptors: readonly number[]): boolean
  /**
   * What lies there, without waiting; undefined when nothing does yet, and no bytes when the other side has
   * ended. The descriptors are the caller's to close. Nobody else may read from this socket, since a plain
   * read throws descriptors away.
   */
  receive(socket: Socket, mostBytes: number): Received | undefined
}

/** A pipe, or a socket between processes, which is what most programs make for the stdio of a child. */
export function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor)
    return stat.isFIFO() || stat.isSocket()
  } catch {
    return false
  }
}

const solSocket = 1
const scmRights = 1
const controlTruncated = 0x8
const dontWait = 0x40
const noSignal = 0x4000
const closeOnExec = 0x40000000
const interrupted = 4
const tryAgain = 11

/** The kernel cuts off what is more, and says so. */
const mostTaken = 2

/** Where in a message its fields are; the eight descriptors there is room for are more than anybody sends. */
const at = {
  parts: 16,
  partCount: 24,
  controls: 32,
  controlLength: 40,
  flags: 48,
  part: 56,
  control: 72,
  descriptors: 88,
  bytes: 120,
} as const

const controlLength = (count: number) => BigInt(at.descriptors - at.control + 4 * count)

let passing: DescriptorPassing | null | undefined

/** Null where there is no way to. */
export function descriptorPassing(): DescriptorPassing | null {
  if (passing === undefined) passing = load()
  return passing
}

function load(): DescriptorPassing | null {
  // The structures below are those of 64 bits, lowest byte first.
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return null
  try {
    return create(createRequire(import.meta.url)('koffi') as typeof Koffi)
  } catch {
    return null
  }
}

function create(koffi: typeof Koffi): DescriptorPassing {
  type Call = (descriptor: number, message: Buffer, flags: number) => number
  const libc = koffi.load(null)
  const sendmsg = libc.func('long sendmsg(int, void *, int)') as Call
  const recvmsg = libc.func('long recvmsg(int, void *, int)') as Call

  /**
   * A `struct msghdr`, the one `struct iovec` and the one `struct cmsghdr` it points to, and the bytes: in one
   * piece of memory, so that all of it lives as long as the call.
   */
  function newMessage(size: number, count: number): Buffer {
    const message = Buffer.alloc(at.bytes + size)
    const address = koffi.address(message)
    message.writeBigUInt64LE(address + BigInt(at.part), at.parts)
    message.writeBigUInt64LE(1n, at.partCount)
    message.writeBigUInt64LE(address + BigInt(at.control), at.controls)
    message.writeBigUInt64LE(controlLength(count), at.controlLength)
    message.writeBigUInt64LE(address + BigInt(at.bytes), at.part)
    message.writeBigUInt64LE(BigInt(size), at.part + 8)
    return message
  }

  return {
    send(socket, bytes, descriptors) {
      const message = newMessage(bytes.length, descriptors.length)
      message.writeBigUInt64LE(controlLength(descriptors.length), at.control)
      message.writeInt32LE(solSocket, at.control + 8)
      message.writeInt32LE(scmRights, at.control + 12)
      for (const [index, one] of descriptors.entries())
        message.writeInt32LE(one, at.descriptors + 4 * index)
      bytes.copy(message, at.bytes)
      return sendmsg(descriptorOf(socket), message, dontWait | noSignal) === bytes.length
    },
    receive(socket, mostBytes) {
      const message = newMessage(mostBytes, mostTaken)
      const size = recvmsg(descriptorOf(socket), message, dontWait | closeOnExec)
      if (size < 0) {
        const error = koffi.errno()
        if (error === tryAgain || error === interrupted) return undefined
        throw new Error(`receiving failed with error ${error}`)
      }
      const descriptors = descriptorsIn(message)
      if ((message.readInt32LE(at.flags) & controlTruncated) !== 0) {
        closeAll(descriptors)
        throw new Error('more descriptors came than can be taken')
      }
      return { bytes: message.subarray(at.bytes, at.bytes + size), descriptors }
    },
  }
}

function descriptorsIn(message: Buffer): number[] {
  const isThere =
    message.readBigUInt64LE(at.controlLength) > 0n &&
    message.readInt32LE(at.control + 8) === solSocket &&
    message.readInt32LE(at.control + 12) === scmRights
  if (!isThere) return []
  const count = (Number(message.readBigUInt64LE(at.control)) - Number(controlLength(0))) / 4
  return Array.from({ length: count }, (_, index) =>
    message.readInt32LE(at.descriptors + 4 * index),
  )
}

export function closeAll(descriptors: readonly number[]): void {
  for (const one of descriptors) closeSync(one)
}

/** Node knows it and has no public name for it. */
function descriptorOf(socket: Socket): number {
  const { _handle } = socket as unknown as { _handle: { readonly fd: number } | null }
  if (!_handle) throw new Error('the socket is closed')
  return _handle.fd
}
