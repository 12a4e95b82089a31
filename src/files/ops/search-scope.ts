/** Lists the folders that a search visits: every folder of the requested scopes, once. */
import { basename } from 'node:path/posix'
import { FileError } from '../confine/file-error.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import type { OpRequest, RootedPath } from '../worker/protocol.ts'
import { closing, getRoot } from './io.ts'
import { joinPath } from './folders.ts'
import { isExcluded } from './ignore.ts'
import { walkFolders } from './tree.ts'

/** A folder with its files of the requested types; without `fd` it stands for a root that is a file. */
export type SearchFolder = {
  readonly confined: ConfinedRoot
  readonly scopeIndex: number
  readonly fd?: number
  readonly real: string
  readonly names: readonly string[]
}

export const toPath = ({ fd, real }: SearchFolder, name: string): string =>
  fd === undefined ? '' : joinPath(real, name)

export const toAbsoluteHitPath = ({ root }: ConfinedRoot, real: string): string =>
  real === '' ? root.path : `${root.path}/${real}`

type ScopeQuery = Pick<OpRequest<'searchNames'>, 'in' | 'types'>

/** Omits excluded folders, and folders that an earlier scope has listed. */
export function* searchFolders(
  context: OpContext,
  { in: scopes, types }: ScopeQuery,
): Generator<SearchFolder> {
  const visited = new Set<string>()
  for (const [scopeIndex, scope] of scopes.entries())
    try {
      yield* searchScope(context, scope, scopeIndex, types, visited)
    } catch (error) {
      // One missing scope does not fail the search of the others.
      if (scopes.length === 1 || !(error instanceof FileError)) throw error
    }
}

function* searchScope(
  context: OpContext,
  scope: RootedPath,
  scopeIndex: number,
  types: readonly string[],
  visited: Set<string>,
): Generator<SearchFolder> {
  const confined = getRoot(context, scope)
  const isNew = (real: string) => {
    const absolute = toAbsoluteHitPath(confined, real)
    return !visited.has(absolute) && visited.add(absolute) === visited
  }
  const { real, stat } = confined.stat(scope.path)
  if (!isNew(real)) return
  if (confined.root.kind === 'file') {
    const names = [basename(confined.root.path)].filter(createTypeFilter(types))
    yield { confined, scopeIndex, real: '', names }
    return
  }
  if (stat.type === 'file') {
    yield* searchSingleFile(confined, scopeIndex, real, types)
    return
  }
  const shouldEnter = (name: string, child: string) => !isExcluded(name) && isNew(child)
  const isType = createTypeFilter(types)
  for (const folder of walkFolders(confined, scope.path, shouldEnter)) {
    const names = types.length === 0 ? folder.files : folder.files.filter(isType)
    if (names.length > 0) yield { confined, scopeIndex, fd: folder.fd, real: folder.real, names }
  }
}

function* searchSingleFile(
  confined: ConfinedRoot,
  scopeIndex: number,
  path: string,
  types: readonly string[],
): Generator<SearchFolder> {
  const { fd, real } = confined.openFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  using _ = closing(fd)
  yield { confined, scopeIndex, fd, real, names: [basename(path)].filter(createTypeFilter(types)) }
}

function createTypeFilter(types: readonly string[]): (name: string) => boolean {
  return (name) => {
    const lower = name.toLowerCase()
    return types.length === 0 || types.some((type) => lower.endsWith(type))
  }
}

export const foldCase = (text: string): string =>
  (/[^ -~]/.test(text) ? text.normalize('NFC') : text).toLowerCase()
