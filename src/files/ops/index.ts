import type { OpMap } from '../worker/context.ts'
import { copy } from './copy.ts'
import { getRoot } from './io.ts'
import { edit, write, writeInternalFile } from './write.ts'
import { list } from './list.ts'
import { move } from './move.ts'
import { verifyResult } from './expected-result.ts'
import { read } from './read.ts'
import { searchContent } from './search-content.ts'
import { searchNames } from './search-names.ts'
import { purge, restore, trash, listTrash } from './trash.ts'
import { usage } from './usage.ts'
import { diff, deleteVersions, listVersions, orphanedJournals, restoreVersion } from './versions.ts'

export const ops: OpMap = {
  stat: (context, { at }) => getRoot(context, at).stat(at.path),
  repin: (context, { roots }) => ({ unreachable: context.roots.repin(roots) }),
  verifyResult,
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
  listTrash,
  restoreVersion,
  listVersions,
  deleteVersions,
  orphanedJournals,
  diff,
  usage,
  writeInternalFile,
}
