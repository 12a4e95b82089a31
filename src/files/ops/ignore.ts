/** What lists of whole trees leave out: the usual excludes and what .gitignore files name (FT3). */
import { dirname } from 'node:path/posix'
import type { Ignore } from 'ignore'
import type { ConfinedRoot } from '../confine/types.ts'
import { closing, readAt } from './io.ts'
import { lstatEntry, openRegularFile } from './regular-file.ts'

const excluded = new Set([
  '.git',
  '.hg',
  '.svn',
  '.jj',
  '.cowork',
  'node_modules',
  'bower_components',
  '__pycache__',
  '.venv',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.gradle',
  '.next',
  '.nuxt',
  '.turbo',
  '.terraform',
  '.DS_Store',
  'Thumbs.db',
])

/** Made by tools, in great numbers, and hardly ever meant. */
export const isExcluded = (name: string): boolean => excluded.has(name)

export type IgnoreRules = {
  readonly folder: string
  readonly own: Ignore
  readonly above?: IgnoreRules
}

/** Bounds what a hostile file can cost: the library's patterns try again from every star (PV7). */
const limits = { bytes: 64 * 1024, lines: 1000, length: 250, stars: 3 }

export const loadIgnore = async () => (await import('ignore')).default

type Make = Awaited<ReturnType<typeof loadIgnore>>

export function loadRules(
  make: Make,
  confined: ConfinedRoot,
  folder: { readonly fd: number; readonly real: string },
  above?: IgnoreRules,
): IgnoreRules | undefined {
  const patterns = patternsIn(confined, folder)
  if (patterns.length === 0) return above
  return { folder: folder.real, own: make().add(patterns), ...(above && { above }) }
}

export function loadRulesUpToRoot(
  make: Make,
  confined: ConfinedRoot,
  real: string,
): IgnoreRules | undefined {
  if (real === '') return undefined
  const folder = dirname(real) === '.' ? '' : dirname(real)
  const above = loadRulesUpToRoot(make, confined, folder)
  const opened = confined.openFolder(folder)
  using _ = closing(opened.fd)
  return loadRules(make, confined, opened, above)
}

function patternsIn(confined: ConfinedRoot, { fd, real }: { fd: number; real: string }): string[] {
  const path = confined.entryPath(fd, '.gitignore')
  try {
    // Hardly any folder has one, and a failed open costs many times what a look does.
    const leaf = lstatEntry(path) && openRegularFile(confined, path, real)
    if (!leaf) return []
    using _ = closing(leaf.fd)
    const text = readAt(leaf.fd, 0, limits.bytes).toString('utf8')
    return text.split(/\r?\n/).slice(0, limits.lines).filter(isBounded)
  } catch {
    // A .gitignore that is no plain file says nothing.
    return []
  }
}

const isBounded = (line: string) =>
  line.length <= limits.length && line.replaceAll('**', '*').split('*').length - 1 <= limits.stars

/** Whether a path, relative to the root, is left out. The nearest file that speaks of it decides. */
export function isIgnored(
  rules: IgnoreRules | undefined,
  real: string,
  isFolder: boolean,
): boolean {
  if (isExcluded(real.slice(real.lastIndexOf('/') + 1))) return true
  for (let at = rules; at; at = at.above) {
    const below = at.folder === '' ? real : real.slice(at.folder.length + 1)
    const { ignored, unignored } = at.own.test(isFolder ? `${below}/` : below)
    if (ignored || unignored) return ignored
  }
  return false
}
