import { readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '#base/config/env.ts'
import type { Context } from './context.ts'

export function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** The absolute path of the program: `npx cowork` could run another package of that name (K4). */
export const launcherPath = (): string =>
  fileURLToPath(new URL('../../bin/cowork.mjs', import.meta.url))

/** Returns the options that make `cowork` use this state; without those that equal the defaults. */
export function locationOptions({
  paths,
  locationArgs,
}: Pick<Context, 'paths' | 'locationArgs'>): string[] {
  const isDefault = paths.dir === join(homedir(), '.cowork')
  return isDefault ? locationArgs.slice(2) : [...locationArgs]
}

/** Returns the command that works in this terminal: `npx cowork` if the PATH has no `cowork` of this package. */
export function commandName(env: Environment, ours = launcherPath()): 'cowork' | 'npx cowork' {
  const folder = env['npm_config_local_prefix']
  const isByNpm = folder !== undefined && ours.startsWith(`${folder}${sep}`)
  return isByNpm && !isOnPath(env, ours) ? 'npx cowork' : 'cowork'
}

/** Returns a command that works in any folder: elsewhere `npx cowork` could run another package (K4). */
export const absoluteCommand = (
  context: Pick<Context, 'env' | 'paths' | 'locationArgs'>,
  ours = launcherPath(),
): string[] => [
  ...(isOnPath(context.env, ours) ? ['cowork'] : ['node', ours]),
  ...locationOptions(context),
]

/** True if the first `cowork` on the PATH is this one. Folders that npm adds to the PATH do not count. */
function isOnPath({ PATH = '' }: Environment, ours: string): boolean {
  const folders = PATH.split(delimiter).filter(
    (folder) => folder !== '' && !folder.endsWith(join('node_modules', '.bin')),
  )
  const first = folders.map((folder) => resolveRealPath(join(folder, 'cowork'))).find((one) => one)
  return first !== undefined && first === resolveRealPath(ours)
}

export function resolveRealPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
