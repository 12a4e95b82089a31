import type { Socket } from 'node:net'
import { CoworkError } from '#base/errors.ts'
import type { ToolSelection } from '#base/selection.ts'
import type { BridgeHello } from './mcp/connections.ts'

/**
 * In version 3 the bridge waits for a reply. Version 1 has no reply: MCP starts at once, for older bridges and for
 * programs that do not reconnect. New fields need no new version.
 */
export const handshakeVersion = 3
const versionWithoutReply = 1

const maxHelloBytes = 16_384
const helloTimeoutMs = 5000

type Handshake = BridgeHello & {
  readonly expectsReply: boolean
  /** The version of cowork that the bridge belongs to. */
  readonly version?: string
}

/** Reads the first line from a paused socket. Leaves the bytes after that line unread and the socket paused. */
export async function readHello(socket: Socket): Promise<Handshake> {
  const deadline = Date.now() + helloTimeoutMs
  let bytes = Buffer.alloc(0)
  for (;;) {
    const chunk = await nextChunk(socket, deadline)
    if (chunk.length === 0) throw invalidHello('The connection closed before the handshake.')
    bytes = Buffer.concat([bytes, chunk])
    const end = bytes.indexOf('\n')
    if (end > maxHelloBytes || (end === -1 && bytes.length > maxHelloBytes))
      throw invalidHello('The handshake is too long.')
    if (end === -1) continue
    const hello = parseHello(bytes.toString('utf8', 0, end))
    if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1))
    return hello
  }
}

function nextChunk(socket: Socket, deadline: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(invalidHello('The handshake timed out.')),
      deadline - Date.now(),
    )
    const onEnd = () => onChunk(Buffer.alloc(0))
    function onChunk(chunk: Buffer) {
      clearTimeout(timer)
      socket.pause()
      socket.off('data', onChunk).off('end', onEnd).off('close', onEnd)
      resolve(chunk)
    }
    socket.on('data', onChunk).on('end', onEnd).on('close', onEnd)
    socket.resume()
  })
}

function parseHello(line: string): Handshake {
  const fields = parseObject(line)
  const { cowork } = fields
  if (cowork !== handshakeVersion && cowork !== versionWithoutReply)
    throw invalidHello('Incompatible versions of the bridge and the daemon.')
  const text = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' && value !== '' ? { [name]: value } : {}
  }
  const { results } = fields
  if (results !== undefined && results !== 'structured')
    throw invalidHello(`Unknown result format: ${JSON.stringify(results)}.`)
  return {
    expectsReply: cowork === handshakeVersion,
    ...text('token'),
    ...text('agent'),
    ...text('session'),
    ...text('version'),
    ...parseSelection(fields),
    ...(results === 'structured' && { structured: true }),
    ...(fields['reconnect'] === true && { isReconnect: true }),
  }
}

function parseObject(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw invalidHello('The handshake is not a JSON object.')
}

function parseSelection({ tools, exclude, read_only: readOnly }: Record<string, unknown>) {
  const selection: ToolSelection = {
    ...(tools !== undefined && { tools: parseNameList('tools', tools) }),
    ...(exclude !== undefined && { exclude: parseNameList('exclude', exclude) }),
    ...(readOnly === true && { readOnly: true }),
  }
  return Object.keys(selection).length > 0 ? { selection } : {}
}

function parseNameList(field: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  throw invalidHello(`Invalid ${field}: expected a list of names.`)
}

const invalidHello = (message: string) =>
  new CoworkError('handshake_invalid', message, {
    hint: 'Run `cowork restart`, then restart the client.',
  })
