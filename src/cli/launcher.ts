import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from './context.ts'

/** The program by its absolute path: `npx cowork` could run a stranger's package (K4). */
export const launcher = (): string =>
  fileURLToPath(new URL('../../bin/cowork.mjs', import.meta.url))

/** Options that lead another program's `cowork` to this place. Those it would find by itself are left out. */
export function placeOptions({ paths, samePlace }: Pick<Context, 'paths' | 'samePlace'>): string[] {
  const isDefault = paths.dir === join(homedir(), '.cowork')
  return isDefault ? samePlace.slice(2) : [...samePlace]
}
