import { CoworkError } from '#base/errors.ts'
import type { ToolResults } from '#wire'
import type { Client } from './client.ts'
import { toolCommand } from './command.ts'
import { minuteOf, words } from './file-words.ts'
import { tableOf } from './output.ts'
import { plain } from './plain.ts'
import { byPrefix, shortIds } from './prefix.ts'
import { bytesText } from './sizes.ts'

const idsOf = ({ versions }: ToolResults['file_versions']) =>
  versions.map(({ version_id: id }) => id)

/** A version by the beginning of its id; the newest where none is named. */
async function versionNamed(client: Client, path: string, given: string | undefined) {
  const ids = idsOf(await client.call('file_versions', { path }))
  const id = given === undefined ? ids[0] : byPrefix(given, ids, 'version')
  if (id !== undefined) return { path, version_id: id }
  throw new CoworkError('not_found', `No earlier content of ${plain(path)} is kept.`, {
    hint: '`cowork trash list` shows what was deleted.',
  })
}

/** The earlier contents of a file, the newest first (TR3). */
export const versionCommands = [
  toolCommand({
    usage: 'versions <path>',
    summary: 'its earlier contents',
    words,
    tool: 'file_versions',
    input: ({ args: [path] }) => ({ path }),
    json: ({ versions }, { args: [path] }) => ({ path, versions }),
    show(found) {
      const short = shortIds(idsOf(found))
      return tableOf(found.versions, 'No earlier content is kept.', {
        VERSION: (version) => short(version.version_id),
        UNTIL: (version) => minuteOf(version.replaced_at),
        SIZE: (version) => bytesText(version.size_bytes),
        'CHANGED BY': (version) => version.replaced_by,
        WITH: (version) => version.operation,
      })
    },
  }),
  toolCommand({
    usage: 'diff <path> [version]',
    summary: 'what changed since an earlier content; the newest where none is named',
    words,
    tool: 'file_diff',
    input: ({ client, args: [path, given] }) => versionNamed(client, path, given),
    show: ({ diff }) => (diff === '' ? 'Nothing differs.' : diff.split('\n').map(plain)),
  }),
  toolCommand({
    usage: 'restore <path> [version]',
    summary: 'put an earlier content back; the newest where none is named',
    words,
    tool: 'file_restore_version',
    input: ({ client, args: [path, given] }) => versionNamed(client, path, given),
    show: (_, { args: [path] }) =>
      `${path} is as it was. \`cowork files restore\` again takes this back.`,
  }),
]
