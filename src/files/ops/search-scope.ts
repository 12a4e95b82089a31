/** Where searches look: every folder of the places that were asked for, each once. */
import { basename } from 'node:path/posix'
import { FileError } from '../confine/file-error.ts'
import type { ConfinedRoot } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import type { OpRequest, RootedPath } from '../worker/protocol.ts'
import { closing, getRoot } from './io.ts'
import { joinPath } from './folders.ts'
import { isExcluded } from './ignore.ts'
import { walkFolders } from './tree.ts'

/** A folder with those of its files that the search is for; without `fd` it stands for a root that is a file. */
export type SearchFolder = {
  readonly confined: ConfinedRoot
  readonly place: number
  readonly fd?: number
  readonly real: string
  readonly names: readonly string[]
}

export const toPath = ({ fd, real }: SearchFolder, name: string): string =>
  fd === undefined ? '' : joinPath(real, name)

export const toAbsoluteHitPath = ({ root }: ConfinedRoot, real: string): string =>
  real === '' ? root.path : `${root.path}/${real}`

type Where = Pick<OpRequest<'searchNames'>, 'in' | 'types'>

/** What tools make in great numbers is left out, and what another place has shown already. */
export function* searchFolders(
  context: OpContext,
  { in: places, types }: Where,
): Generator<SearchFolder> {
  const seen = new Set<string>()
  for (const [number, at] of places.entries())
    try {
      yield* searchedIn(context, at, number, types, seen)
    } catch (error) {
      // One folder that is gone does not spoil the search of the others.
      if (places.length === 1 || !(error instanceof FileError)) throw error
    }
}

function* searchedIn(
  context: OpContext,
  at: RootedPath,
  place: number,
  types: readonly string[],
  seen: Set<string>,
): Generator<SearchFolder> {
  const confined = getRoot(context, at)
  const isNew = (real: string) => {
    const absolute = toAbsoluteHitPath(confined, real)
    return !seen.has(absolute) && seen.add(absolute) === seen
  }
  const { real, stat } = confined.stat(at.path)
  if (!isNew(real)) return
  if (confined.root.kind === 'file') {
    const names = [basename(confined.root.path)].filter(ofTypes(types))
    yield { confined, place, real: '', names }
    return
  }
  if (stat.type === 'file') {
    yield* oneOf(confined, place, real, types)
    return
  }
  const enters = (name: string, child: string) => !isExcluded(name) && isNew(child)
  const isType = ofTypes(types)
  for (const folder of walkFolders(confined, at.path, enters)) {
    const names = types.length === 0 ? folder.files : folder.files.filter(isType)
    if (names.length > 0) yield { confined, place, fd: folder.fd, real: folder.real, names }
  }
}

function* oneOf(
  confined: ConfinedRoot,
  place: number,
  path: string,
  types: readonly string[],
): Generator<SearchFolder> {
  const { fd, real } = confined.openFolder(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
  using _ = closing(fd)
  yield { confined, place, fd, real, names: [basename(path)].filter(ofTypes(types)) }
}

function ofTypes(types: readonly string[]): (name: string) => boolean {
  return (name) => {
    const lower = name.toLowerCase()
    return types.length === 0 || types.some((type) => lower.endsWith(type))
  }
}

export const foldCase = (text: string): string =>
  (/[^ -~]/.test(text) ? text.normalize('NFC') : text).toLowerCase()
