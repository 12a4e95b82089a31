import type { Dialect, Reader } from '#base/db/port.ts'
import { plainText } from '#base/plain.ts'
import { createLookup } from '#ledger'
import type { Entry } from '#ledger'
import { createHistoryStore } from './history-store.ts'
import { nameOf } from './rules/paths.ts'

/** How what a call did to a file is taken back; told by the entry that ended the call (TR1, TR3). */
export function createUndo(dialect: Dialect, node: string) {
  const store = createHistoryStore(dialect, node)
  const lookup = createLookup(dialect)

  return {
    async find(reader: Reader, done: Entry) {
      const { trash, version } = keptBy(done)
      if (trash !== undefined) {
        const item = await store.trashed(reader, trash)
        return (
          item && {
            tool: 'trash_restore',
            arguments: { trash_id: trash },
            text: `Restore ${shown(item.path)} from the trash`,
          }
        )
      }
      const before = version === undefined ? undefined : await store.version(reader, version)
      // What lies in the trash has no path.
      if (!before || before.path.startsWith('trash:')) return undefined
      return {
        tool: 'file_restore_version',
        arguments: { path: before.path, version_id: before.id },
        text: `Put back ${shown(before.path)} as it was before`,
      }
    },
    async isDone(reader: Reader, done: Entry): Promise<boolean> {
      const { trash, version } = keptBy(done)
      const before = version === undefined ? undefined : await store.version(reader, version)
      const subject = trash ?? before?.path
      if (subject === undefined) return false
      const later = await lookup.doneSince(reader, subject, done.seq)
      return later.some(
        ({ actor, data }) =>
          actor.kind === 'human' &&
          (trash === undefined ? data?.['version'] === version : data?.['trash'] === trash),
      )
    },
  }
}

/** What a call left to restore: an item of the trash, or the version that it replaced. */
function keptBy({ data }: Entry): { trash?: string; version?: string } {
  const { tool, trash, replaced } = data ?? {}
  if (tool === 'delete_file' && typeof trash === 'string') return { trash }
  return typeof replaced === 'string' ? { version: replaced } : {}
}

const shown = (path: string) => plainText(nameOf(path) ?? path, 100)
