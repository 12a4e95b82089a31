import fs from 'node:fs'
import { errnoOf, FileFault } from '../confine/fault.ts'
import type { Parent } from '../confine/types.ts'
import { writeAll } from './disk.ts'
import { isLinked, unlinkIfThere } from './placing.ts'
import { permissionsOf } from './present.ts'
import type { Present } from './present.ts'

const mostBackups = 10_000

/** Leaves what is there under the next free `.bak` name as well (FT4), and says which. */
export function backUp(parent: Parent, present: Present): string {
  for (let number = 0; number < mostBackups; number++) {
    const name = `${parent.name}.bak${number === 0 ? '' : `.${number}`}`
    if (isBackedUp(parent, name, present)) return name
  }
  throw new FileFault('exists', 'There are too many backups beside the file.', parent.real)
}

/** The old file itself under a second name, unless others have it too: then a copy. */
function isBackedUp(parent: Parent, name: string, present: Present): boolean {
  try {
    const isOnly = present.stat.nlink === 1n
    if (!isOnly || !isLinked(parent.at(parent.name), parent.at(name)))
      writeCopy(parent.at(name), present)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

function writeCopy(path: string, { bytes, stat }: Present): void {
  const fd = fs.openSync(path, 'wx', permissionsOf(stat))
  try {
    writeAll(fd, bytes)
    fs.fsyncSync(fd)
  } catch (error) {
    unlinkIfThere(path)
    throw error
  } finally {
    fs.closeSync(fd)
  }
}
