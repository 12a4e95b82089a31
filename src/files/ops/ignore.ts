/** Names that recursive lists omit: the default excludes and the patterns of .gitignore files (FT3). */
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

/** Generated in large numbers by tools, and rarely searched for. */
export const isExcluded = (name: string): boolean => excluded.has(name)

export type IgnoreRules = {
  readonly folder: string
  readonly matcher: Ignore
  readonly parent?: IgnoreRules
}

/** Limits the cost of a hostile file: the library's patterns backtrack at every star (PV7). */
const limits = { bytes: 64 * 1024, lines: 1000, length: 250, stars: 3 }

export const loadIgnore = async () => (await import('ignore')).default

type CreateIgnore = Awaited<ReturnType<typeof loadIgnore>>

export function loadRules(
  createIgnore: CreateIgnore,
  confined: ConfinedRoot,
  folder: { readonly fd: number; readonly real: string },
  parent?: IgnoreRules,
): IgnoreRules | undefined {
  const patterns = readPatterns(confined, folder)
  if (patterns.length === 0) return parent
  return { folder: folder.real, matcher: createIgnore().add(patterns), ...(parent && { parent }) }
}

export function loadRulesUpToRoot(
  createIgnore: CreateIgnore,
  confined: ConfinedRoot,
  real: string,
): IgnoreRules | undefined {
  if (real === '') return undefined
  const folder = dirname(real) === '.' ? '' : dirname(real)
  const parent = loadRulesUpToRoot(createIgnore, confined, folder)
  const opened = confined.openFolder(folder)
  using _ = closing(opened.fd)
  return loadRules(createIgnore, confined, opened, parent)
}

function readPatterns(
  confined: ConfinedRoot,
  { fd, real }: { fd: number; real: string },
): string[] {
  const path = confined.entryPath(fd, '.gitignore')
  try {
    // Few folders have one, and a failed open costs many times more than an lstat.
    const leaf = lstatEntry(path) && openRegularFile(confined, path, real)
    if (!leaf) return []
    using _ = closing(leaf.fd)
    const text = readAt(leaf.fd, 0, limits.bytes).toString('utf8')
    return text.split(/\r?\n/).slice(0, limits.lines).filter(isBounded)
  } catch {
    // A .gitignore that is not a regular file is ignored.
    return []
  }
}

const isBounded = (line: string) =>
  line.length <= limits.length && line.replaceAll('**', '*').split('*').length - 1 <= limits.stars

/** Returns true if a path relative to the root is omitted. The nearest .gitignore with a match decides. */
export function isIgnored(
  rules: IgnoreRules | undefined,
  real: string,
  isFolder: boolean,
): boolean {
  if (isExcluded(real.slice(real.lastIndexOf('/') + 1))) return true
  for (let current = rules; current; current = current.parent) {
    const relativePath = current.folder === '' ? real : real.slice(current.folder.length + 1)
    const { ignored, unignored } = current.matcher.test(
      isFolder ? `${relativePath}/` : relativePath,
    )
    if (ignored || unignored) return ignored
  }
  return false
}
