import { withSetting } from '#base/config/edit.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { exitCode, exitCodeOf } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { grantedText } from '../grants.ts'
import { requirePerson } from '../person.ts'
import type { Merged } from './imports.ts'
import type { Folder, Wishes } from './wishes.ts'

/** What only a person may ask for is refused before anything is written (GR8, I10). */
export function checkWishes({ env }: Context, { folders }: Wishes, present: Config): void {
  if (folders.length === 0) return
  const { stdin, stderr } = process
  requirePerson('Granting access', {
    env,
    markers: present.server.agent_markers,
    isTerminal: stdin.isTTY === true && stderr.isTTY === true,
  })
}

/** The configuration with the workspace and the channel that were chosen; the rest is said to the daemon. */
export function withWishes(
  merged: Merged,
  { channel }: Wishes,
  workspace: string | undefined,
): Merged {
  // `{}` is how an empty file is written.
  let text = merged.text.trim() === '{}' ? '' : merged.text
  if (workspace !== undefined) text = withSetting(text, ['workspace', 'path'], workspace)
  if (channel) text = withSetting(text, ['notify', 'channels'], [channel])
  return { ...merged, text }
}

/** Each by itself: one that is refused leaves the others. */
export async function grantFolders(
  context: Context,
  folders: readonly Folder[],
): Promise<ExitCode> {
  let worst: ExitCode = exitCode.ok
  for (const { path, permission } of folders)
    try {
      const grant = await createClient(context).call('add_grant', {
        path,
        permission,
        granted_by: 'system_setup',
      })
      context.out.data({ granted: grant }, () => [grantedText(grant)])
    } catch (error) {
      if (!(error instanceof CoworkError)) throw error
      context.out.problem(error)
      worst = Math.max(worst, exitCodeOf(error)) as ExitCode
    }
  return worst
}
