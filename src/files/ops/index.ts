import type { OpMap } from '../worker/context.ts'
import { copy } from './copy.ts'
import { rootOf } from './disk.ts'
import { edit, write, writeOwn } from './write.ts'
import { list } from './list.ts'
import { move } from './move.ts'
import { seen } from './outlook.ts'
import { read } from './read.ts'
import { searchContent } from './search-content.ts'
import { searchNames } from './search-names.ts'
import { purge, restore, trash, trashed } from './trash.ts'
import { usage } from './usage.ts'
import { diff, dropVersions, keptVersions, leftNotes, restoreVersion } from './versions.ts'

export const ops: OpMap = {
  stat: (context, { at }) => rootOf(context, at).stat(at.path),
  repin: (context, { roots }) => ({ left: context.roots.repin(roots) }),
  seen,
  read,
  write,
  edit,
  list,
  searchNames,
  searchContent,
  move,
  copy,
  trash,
  restore,
  purge,
  trashed,
  restoreVersion,
  keptVersions,
  dropVersions,
  leftNotes,
  diff,
  usage,
  writeOwn,
}
