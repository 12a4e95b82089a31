import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { rfc3339 } from '#base/clock.ts'
import { newId } from '#base/ids.ts'

/** A text that a person saved, kept whole below the project's folder; `name` is its path from there (W5). */
export function keepCopy(
  folder: string,
  text: string,
  at: number,
  ending: 'yaml' | 'md' = 'yaml',
): { readonly name: string; readonly path: string } {
  const copies = join('.cowork', 'conflicts')
  mkdirSync(join(folder, copies), { recursive: true })
  const name = `${rfc3339(at).replaceAll(/[:.]/g, '-')}-${newId().slice(-6)}.${ending}`
  const path = join(folder, copies, name)
  writeFileAtomic(path, text, 0o644)
  return { name: join(copies, name), path }
}
