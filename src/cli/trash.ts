import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import type { Client } from './client.ts'
import { command, toolCommand } from './command.ts'
import type { Entry } from './command.ts'
import { usage } from './exit.ts'
import { minuteOf, words } from './file-words.ts'
import { count, flag, text, yes } from './option-kinds.ts'
import { tableOf } from './output.ts'
import { pages } from './pages.ts'
import { byPrefix, moreNotes, shortIds } from './prefix.ts'
import { bytesText, countText } from './sizes.ts'
import { confirmed } from './terminal.ts'

type Trashed = ToolResults['trash_list']['items'][number]

const isFolder = ({ type }: Trashed) => type === 'directory'

const trashed = async (client: Client, most = Infinity) =>
  (await pages(client, 'trash_list', {}, ({ items }) => items, most)).all

const idsOf = (items: readonly Trashed[]) => items.map(({ trash_id: id }) => id)

const idNamed = (given: string, ids: readonly string[]) => byPrefix(given, ids, 'item in the trash')

/** What was deleted and can be had back, the newest first (TR1). */
const listCommand = command({
  usage: 'list',
  summary: 'list it',
  options: { lines: count(100) },
  words,
  async run({ client, options: { lines } }) {
    const all = await trashed(client, lines + 1)
    return { all, items: all.slice(0, lines) }
  },
  json: ({ items }) => ({ items }),
  show({ items, all }) {
    const short = shortIds(idsOf(all))
    return tableOf(items, 'The trash is empty.', {
      ID: (item) => short(item.trash_id),
      DELETED: (item) => minuteOf(item.deleted_at),
      BY: (item) => item.deleted_by,
      // What a folder holds was not counted.
      SIZE: (item) => (isFolder(item) ? '-' : bytesText(item.size_bytes)),
      'KEPT UNTIL': (item) => minuteOf(item.expires_at),
      WAS: (item) => item.path,
    })
  },
  notes: ({ items, all }) => moreNotes(all.length > items.length),
})

export const trashCommand: Entry = {
  ...listCommand,
  usage: 'trash',
  summary: 'what was deleted',
  commands: [
    listCommand,
    toolCommand({
      usage: 'restore <id>',
      summary: 'back to where it was',
      options: { to: text('--to <path>', 'to another place') },
      words,
      tool: 'trash_restore',
      input: async ({ client, args: [given], options: { to } }) => ({
        trash_id: idNamed(given, idsOf(await trashed(client))),
        destination: to,
      }),
      show: ({ restored_path: path }) => `${path} is back.`,
    }),
    // Nothing brings it back, so a person says so.
    toolCommand({
      usage: 'purge [ids...]',
      summary: 'delete for good',
      options: { all: flag('--all', 'all of it'), yes: yes('without asking') },
      words,
      check({ args, options: { all = false } }) {
        if (all === args.length > 0)
          throw usage('Say what to purge.', 'Name ids, or all of it with --all.')
      },
      person: 'Purging',
      tool: 'trash_purge',
      async input({ client, args, options: { all, ...asking } }) {
        const items = await trashed(client)
        const known = idsOf(items)
        const ids = all ? known : args.map((one) => idNamed(one, known))
        if (ids.length === 0) throw new CoworkError('not_found', 'The trash is empty.')
        const named = items.filter(({ trash_id: id }) => ids.includes(id))
        const bytes = named.reduce((sum, item) => sum + item.size_bytes, 0)
        const size = named.some(isFolder) ? 'with all that is in them' : bytesText(bytes)
        const what = `${countText(ids.length, 'item')} (${size})`
        await confirmed(`Delete ${what} for good?`, asking, false)
        return all ? { all } : { trash_ids: ids }
      },
      show: ({ purged, left_in: left = [] }) => [
        `${countText(purged.length, 'item')} deleted for good.`,
        ...left.map(
          (folder) =>
            `Some of it could not be removed from ${folder}. That is tried again each day.`,
        ),
      ],
    }),
  ],
}
