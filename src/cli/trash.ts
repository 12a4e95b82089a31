import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { usage } from './exit.ts'
import { fileWords, minuteOf } from './files.ts'
import { table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { byPrefix, shortIds } from './prefix.ts'
import { bytesText, countText } from './sizes.ts'
import { confirmed } from './terminal.ts'
import type { Asking } from './terminal.ts'

type Trashed = {
  trash_id: string
  path: string
  type: string
  size_bytes: number
  deleted_at: string
  deleted_by: string
  expires_at: string
}
const isFolder = ({ type }: Trashed) => type === 'directory'

type Page = { items: Trashed[]; next_cursor?: string }

async function trashed(client: Client, most: number): Promise<Trashed[]> {
  const items: Trashed[] = []
  for (let cursor: string | undefined; ;) {
    const page: Page = await client.call('trash_list', cursor === undefined ? {} : { cursor })
    items.push(...page.items)
    cursor = page.next_cursor
    if (cursor === undefined || items.length >= most) return items
  }
}

/** What was deleted and can be had back, the newest first (TR1). */
export async function listTrash(
  context: Context,
  { lines }: { readonly lines: number },
): Promise<void> {
  const all = await trashed(createClient(context, fileWords), lines + 1)
  const items = all.slice(0, lines)
  const short = shortIds(all.map(({ trash_id: id }) => id))
  context.out.data({ items }, () =>
    items.length === 0
      ? ['The trash is empty.']
      : table(
          ['ID', 'DELETED', 'BY', 'SIZE', 'KEPT UNTIL', 'WAS'],
          items.map((item) => [
            short(item.trash_id),
            minuteOf(item.deleted_at),
            plain(item.deleted_by),
            // What a folder holds was not counted.
            isFolder(item) ? '-' : bytesText(item.size_bytes),
            minuteOf(item.expires_at),
            plain(item.path),
          ]),
        ),
  )
  if (all.length > lines) context.out.note('There are more: -n shows them.')
}

const idsOf = async (client: Client) =>
  (await trashed(client, Infinity)).map(({ trash_id: id }) => id)

export async function restoreTrash(
  context: Context,
  given: string,
  { to }: { readonly to?: string },
): Promise<void> {
  const client = createClient(context, fileWords)
  const id = byPrefix(given, await idsOf(client), 'item in the trash')
  const restored = await client.call<{ restored_path: string }>('trash_restore', {
    trash_id: id,
    ...(to !== undefined && { destination: to }),
  })
  context.out.data(restored, () => [`${plain(restored.restored_path)} is back.`])
}

export type PurgeFlags = Asking & { readonly all?: boolean }

/** For good: nothing brings it back, so a person says so. */
export async function purgeTrash(
  context: Context,
  given: readonly string[],
  { all = false, ...asking }: PurgeFlags,
): Promise<void> {
  if (all === given.length > 0)
    throw usage('Say what to purge.', 'Name ids, or all of it with --all.')
  requirePersonHere(context, 'Purging')
  const client = createClient(context, fileWords)
  const items = await trashed(client, Infinity)
  const known = items.map(({ trash_id: id }) => id)
  const ids = all ? known : given.map((one) => byPrefix(one, known, 'item in the trash'))
  if (ids.length === 0) throw new CoworkError('not_found', 'The trash is empty.')
  const named = items.filter(({ trash_id: id }) => ids.includes(id))
  const bytes = named.reduce((sum, item) => sum + item.size_bytes, 0)
  const size = named.some(isFolder) ? 'with all that is in them' : bytesText(bytes)
  const what = `${countText(ids.length, 'item')} (${size})`
  await confirmed(`Delete ${what} for good?`, asking, false)
  const purged = await client.call<{ purged: string[]; left_in?: string[] }>(
    'trash_purge',
    all ? { all } : { trash_ids: ids },
  )
  context.out.data(purged, () => [
    `${countText(purged.purged.length, 'item')} deleted for good.`,
    ...(purged.left_in ?? []).map(
      (folder) => `Some of it could not be removed from ${folder}. That is tried again each day.`,
    ),
  ])
}
