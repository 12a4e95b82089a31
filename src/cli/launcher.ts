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

/** The program by its absolute path: `npx cowork` could run a stranger's package (K4). */
export const launcherPath = (): string =>
  fileURLToPath(new URL('../../bin/cowork.mjs', import.meta.url))

/** Options that lead another program's `cowork` to this place. Those it would find by itself are left out. */
export function locationOptions({
  paths,
  locationArgs,
}: Pick<Context, 'paths' | 'locationArgs'>): string[] {
  const isDefault = paths.dir === join(homedir(), '.cowork')
  return isDefault ? locationArgs.slice(2) : [...locationArgs]
}

/** What a person writes for `cowork` in this terminal: without a link of that name, npx in its own folder. */
export function commandName(env: Environment, ours = launcherPath()): 'cowork' | 'npx cowork' {
  const folder = env['npm_config_local_prefix']
  const isByNpm = folder !== undefined && ours.startsWith(`${folder}${sep}`)
  return isByNpm && !isOnPath(env, ours) ? 'npx cowork' : 'cowork'
}

/** The words that run it from any folder, on this place: outside ours npx would ask a stranger's package (K4). */
export const absoluteCommand = (
  context: Pick<Context, 'env' | 'paths' | 'locationArgs'>,
  ours = launcherPath(),
): string[] => [
  ...(isOnPath(context.env, ours) ? ['cowork'] : ['node', ours]),
  ...locationOptions(context),
]

/** Whether the first `cowork` that a shell finds is this one. What npm puts on the PATH is there for us alone. */
function isOnPath({ PATH = '' }: Environment, ours: string): boolean {
  const folders = PATH.split(delimiter).filter(
    (folder) => folder !== '' && !folder.endsWith(join('node_modules', '.bin')),
  )
  const first = folders.map((folder) => realPathOf(join(folder, 'cowork'))).find((one) => one)
  return first !== undefined && first === realPathOf(ours)
}

export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
