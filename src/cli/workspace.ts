import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { pathHere } from './grants.ts'
import { openWith } from './open.ts'
import { fields } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { bytesText, countText } from './sizes.ts'

export type WorkspaceInfo = {
  workspace_path: string
  total_files: number
  total_size_mb: number
  temp_files: number
  last_cleanup: string | null
  containment: 'landlock' | 'walk' | 'checked' | 'starting'
  /** Another one that was chosen since the start. */
  path_after_restart?: string
}

const restartNote = 'Another workspace is chosen: `cowork restart` takes it.'

const informed = (context: Context) =>
  createClient(context).call<WorkspaceInfo>('get_workspace_info')

const guards: Record<WorkspaceInfo['containment'], string> = {
  landlock: 'by the kernel (Landlock) and by cowork',
  walk: 'by cowork',
  checked: 'by checks before and after each access',
  starting: 'the file worker is starting',
}

/** The daemon rounds to hundredths: no digit is told that is not known. */
export function holdsText({ total_files: files, total_size_mb: size }: WorkspaceInfo): string {
  const least = files > 0 && size === 0
  const told = size > 0 && size < 1 ? `${size} MB` : bytesText(size * 1e6)
  return `${countText(files, 'file')}, ${least ? 'less than 10 kB' : told}`
}

/** Where agents keep their files, and how much there is (FT7). */
export async function workspaceInfo(context: Context): Promise<void> {
  const info = await informed(context)
  context.out.data(info, () =>
    fields({
      workspace: plain(info.workspace_path),
      holds: holdsText(info),
      temp: countText(info.temp_files, 'file'),
      'clean-up': info.last_cleanup ?? 'not yet',
      guarded: guards[info.containment],
      'at restart': info.path_after_restart && plain(info.path_after_restart),
    }),
  )
  if (info.path_after_restart !== undefined) context.out.note(restartNote)
}

/** In the file manager; where there is none, its path is printed. */
export async function openWorkspace(
  context: Context,
  { print = false }: { readonly print?: boolean },
): Promise<void> {
  const { workspace_path: path } = await informed(context)
  const opened = !print && (await openWith(path, context.env, process.platform))
  context.out.data({ path, opened }, () => [opened ? `${plain(path)} is open.` : plain(path)])
}

type Chosen = { path: string; config: string; restart_needed: boolean; message: string }

/** From the next start on agents keep their files elsewhere (C9). */
export async function chooseWorkspace(context: Context, given: string): Promise<void> {
  requirePersonHere(context, 'Choosing the workspace')
  const client = createClient(context)
  const chosen = await client.call<Chosen>('workspace_choose', { path: pathHere(given) })
  context.out.data(chosen, () => [plain(chosen.message)])
  if (chosen.restart_needed) context.out.note('`cowork restart` does it now.')
}
