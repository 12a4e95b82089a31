/** Where searches look: every folder of the places that were asked for, each once. */
import { basename } from 'node:path/posix'
import { FileFault } from '../confine/fault.ts'
import type { Confined } from '../confine/types.ts'
import type { OpContext } from '../worker/context.ts'
import type { Ask, Place } from '../worker/protocol.ts'
import { closing, rootOf } from './disk.ts'
import { below } from './folders.ts'
import { isExcluded } from './ignore.ts'
import { foldersBelow } from './tree.ts'

/** A folder with those of its files that the search is for; without `fd` it stands for a root that is a file. */
export type Searched = {
  readonly confined: Confined
  readonly place: number
  readonly fd?: number
  readonly real: string
  readonly names: readonly string[]
}

export const pathIn = ({ fd, real }: Searched, name: string): string =>
  fd === undefined ? '' : below(real, name)

export const absoluteIn = ({ root }: Confined, real: string): string =>
  real === '' ? root.path : `${root.path}/${real}`

type Where = Pick<Ask<'searchNames'>, 'in' | 'types'>

/** What tools make in great numbers is left out, and what another place has shown already. */
export function* searched(context: OpContext, { in: places, types }: Where): Generator<Searched> {
  const seen = new Set<string>()
  for (const [number, at] of places.entries())
    try {
      yield* searchedIn(context, at, number, types, seen)
    } catch (error) {
      // One folder that is gone does not spoil the search of the others.
      if (places.length === 1 || !(error instanceof FileFault)) throw error
    }
}

function* searchedIn(
  context: OpContext,
  at: Place,
  place: number,
  types: readonly string[],
  seen: Set<string>,
): Generator<Searched> {
  const confined = rootOf(context, at)
  const isNew = (real: string) => {
    const absolute = absoluteIn(confined, real)
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
  for (const folder of foldersBelow(confined, at.path, enters)) {
    const names = types.length === 0 ? folder.files : folder.files.filter(isType)
    if (names.length > 0) yield { confined, place, fd: folder.fd, real: folder.real, names }
  }
}

function* oneOf(
  confined: Confined,
  place: number,
  path: string,
  types: readonly string[],
): Generator<Searched> {
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

export const folded = (text: string): string =>
  (/[^ -~]/.test(text) ? text.normalize('NFC') : text).toLowerCase()
