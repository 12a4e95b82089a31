/** The version store: contents under their hash, each written once (TR3). */
import fs from 'node:fs'
import { sha256Hex } from '#base/hash.ts'
import { errnoOf, FileFault } from '../confine/fault.ts'
import type { Confined } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import { readAt, sync, syncFolder, writeAll } from './disk.ts'
import { leafStat } from './leaf.ts'
import { placeAtFree, withTemporary } from './placing.ts'

const store = ({ roots }: OpContext): Confined => roots.get('versions')

function pathOf(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new FileFault('not_found', 'There is no such version.')
  return `${sha256.slice(0, 2)}/${sha256.slice(2)}`
}

/** On disk, under its name, when it resolves. What is there already is whole: it came by this way. */
export async function keep(context: OpContext, sha256: string, bytes: Buffer): Promise<void> {
  const versions = store(context)
  await versions.withParent(
    pathOf(sha256),
    async (parent) => {
      if (leafStat(parent.at(parent.name))) return
      await withTemporary(parent, 0o600, async ({ fd, path }) => {
        writeAll(fd, bytes)
        await sync(fd)
        moveUnlessThere(path, parent.at(parent.name))
      })
      await Promise.all([syncFolder(parent.at('.')), syncFolder(parent.at('..'))])
    },
    { need: 'create', parents: true },
  )
}

function moveUnlessThere(from: string, to: string): void {
  try {
    placeAtFree(from, to)
  } catch (error) {
    // Somebody kept the same content at the same moment.
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** A kept content, checked against its name. */
export function keptContent(context: OpContext, sha256: string): Buffer {
  const { fd, stat } = store(context).openFile(pathOf(sha256))
  try {
    const bytes = readAt(fd, 0, Number(stat.size))
    if (sha256Hex(bytes) === sha256) return bytes
    throw new FileFault('unreadable', 'The kept version is damaged.')
  } finally {
    fs.closeSync(fd)
  }
}

/** How many bytes went with it. */
export function drop(context: OpContext, sha256: string): number {
  try {
    return store(context).withParent(
      pathOf(sha256),
      ({ at, name }) => {
        const { size } = fs.lstatSync(at(name))
        fs.unlinkSync(at(name))
        return size
      },
      { need: 'delete', keepLeafLink: true },
    )
  } catch (error) {
    if (error instanceof FileFault && error.code === 'not_found') return 0
    throw error
  }
}
