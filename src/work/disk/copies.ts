import { join } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { rfc3339 } from '#base/clock.ts'
import { newId } from '#base/ids.ts'
import { folderInside, readInside } from './inside.ts'

const copies = '.cowork/conflicts'

/**
 * What a person saved, kept whole and byte for byte below the project's folder; `name` is its path from
 * there (W5).
 */
export function keepCopy(
  folder: string,
  written: Buffer,
  at: number,
  ending: 'yaml' | 'md' = 'yaml',
): { readonly name: string; readonly path: string } {
  const own = folderInside(folder, copies)
  const name = `${rfc3339(at).replaceAll(/[:.]/g, '-')}-${newId().slice(-6)}.${ending}`
  const path = join(own, name)
  writeFileAtomic(path, written, 0o644)
  return { name: join(copies, name), path }
}

/** A copy by the name that a conflict has for it, which stands in a file that people edit: never another file. */
export function readCopy(folder: string, name: unknown): Buffer | undefined {
  const [, file] = /^\.cowork[/\\]conflicts[/\\]([\w-]+\.yaml)$/.exec(String(name)) ?? []
  if (file === undefined) return undefined
  try {
    return readInside(folder, `${copies}/${file}`)
  } catch {
    return undefined
  }
}
