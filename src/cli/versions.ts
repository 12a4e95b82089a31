import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { fileWords, minuteOf } from './files.ts'
import { table } from './output.ts'
import { plain } from './plain.ts'
import { byPrefix, shortIds } from './prefix.ts'
import { bytesText } from './sizes.ts'

type Version = {
  version_id: string
  size_bytes: number
  replaced_at: string
  replaced_by: string
  operation: string
}

const versionsOf = async (client: Client, path: string): Promise<Version[]> =>
  (await client.call<{ versions: Version[] }>('file_versions', { path })).versions

/** The earlier contents of a file, the newest first (TR3). */
export async function listVersions(context: Context, path: string): Promise<void> {
  const versions = await versionsOf(createClient(context, fileWords), path)
  const short = shortIds(versions.map(({ version_id: id }) => id))
  context.out.data({ path, versions }, () =>
    versions.length === 0
      ? ['No earlier content is kept.']
      : table(
          ['VERSION', 'UNTIL', 'SIZE', 'CHANGED BY', 'WITH'],
          versions.map((version) => [
            short(version.version_id),
            minuteOf(version.replaced_at),
            bytesText(version.size_bytes),
            plain(version.replaced_by),
            plain(version.operation),
          ]),
        ),
  )
}

/** What changed since then. */
export async function diffVersion(
  context: Context,
  path: string,
  given: string | undefined,
): Promise<void> {
  const client = createClient(context, fileWords)
  const id = await versionNamed(client, path, given)
  const compared = await client.call<{ path: string; diff: string }>('file_diff', {
    path,
    version_id: id,
  })
  context.out.data(compared, () =>
    compared.diff === ''
      ? ['Nothing differs.']
      : compared.diff.split('\n').map((line) => plain(line)),
  )
}

async function versionNamed(
  client: Client,
  path: string,
  given: string | undefined,
): Promise<string> {
  const ids = (await versionsOf(client, path)).map(({ version_id: id }) => id)
  const id = given === undefined ? ids[0] : byPrefix(given, ids, 'version')
  if (id !== undefined) return id
  throw new CoworkError('not_found', `No earlier content of ${plain(path)} is kept.`, {
    hint: '`cowork trash list` shows what was deleted.',
  })
}

/** Undoes the last change where no version is named. */
export async function restoreVersion(
  context: Context,
  path: string,
  given: string | undefined,
): Promise<void> {
  const client = createClient(context, fileWords)
  const id = await versionNamed(client, path, given)
  const restored = await client.call<{ path: string }>('file_restore_version', {
    path,
    version_id: id,
  })
  context.out.data(restored, () => [
    `${plain(path)} is as it was. \`cowork files restore\` again takes this back.`,
  ])
}
