import { createClient } from '../client.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { pathHere } from '../grants.ts'
import { requirePersonHere } from '../person.ts'
import { plain } from '../plain.ts'
import { byPrefix } from '../prefix.ts'
import { countText } from '../sizes.ts'
import { confirmed } from '../terminal.ts'
import type { Asking } from '../terminal.ts'
import { claimOf, projectOf } from './asking.ts'
import type { InProject } from './asking.ts'
import type { ProjectStatus } from './wire.ts'

export type RegisterFlags = {
  readonly repo?: string
  readonly description?: string
  readonly inherit?: readonly string[]
}

/** With a repository, texts of it are read to agents from then on: a person says so. */
export async function registerProject(
  context: Context,
  project: string,
  { repo, description, inherit }: RegisterFlags,
): Promise<void> {
  if (repo !== undefined) requirePersonHere(context, 'Registering a project with a repository')
  const answer = await createClient(context).call<{ project: string; folder: string }>(
    'worksync_register_project',
    {
      project,
      ...(repo !== undefined && { repo: pathHere(repo) }),
      ...(description !== undefined && { description }),
      ...(inherit && { guidance: { inherit } }),
      ...claimOf(context),
    },
  )
  context.out.data(answer, () => [`${plain(answer.project)} is kept in ${plain(answer.folder)}.`])
}

export async function unregisterProject(
  context: Context,
  project: string,
  asking: Asking,
): Promise<void> {
  requirePersonHere(context, 'Unregistering a project')
  await confirmed(`Take ${plain(project)} out of the registry? Its files stay.`, asking)
  const answer = await createClient(context).call<{ project: string; folder: string }>(
    'worksync_unregister_project',
    { project, ...claimOf(context) },
  )
  context.out.data(answer, () => [
    `${plain(answer.project)} is no project any more. Its files are in ${plain(answer.folder)}.`,
  ])
}

/** Writes the notes that changed into the vault (W18). */
export async function syncVault(context: Context, { project }: InProject): Promise<void> {
  const client = createClient(context)
  const answer = await client.call<{
    vault_path: string
    written: number
    removed: number
    notes: number
  }>('worksync_sync', {
    ...(project !== undefined && { project: await projectOf(client, { project }) }),
    ...claimOf(context),
  })
  const { written, removed, notes, vault_path: folder } = answer
  context.out.data(answer, () => [
    `${written} of ${countText(notes, 'note')} written, ${removed} removed, in ${plain(folder)}.`,
  ])
}

/** Ends a conflict between an edit of the file and an agent's change (W5). */
export async function resolveConflict(
  context: Context,
  { given, take }: { readonly given: string; readonly take: string },
  named: InProject,
): Promise<void> {
  const client = createClient(context)
  const project = await projectOf(client, named)
  const known = await conflictsOf(client, project)
  // Of many only the first are told; the daemon knows the rest.
  const isTold = known.some((one) => one.startsWith(given))
  const id = isTold ? byPrefix(given, known, 'conflict') : given
  const answer = await client.call<{ resolved: string; item?: { id: string } }>(
    'worksync_resolve',
    { project, conflict_id: id, take, ...claimOf(context) },
  )
  context.out.data({ project, ...answer }, () => [
    take === 'ours' ? 'It stays as it stands.' : 'What the file said is what stands now.',
  ])
}

async function conflictsOf(client: Client, project: string): Promise<string[]> {
  const { projects } = await client.call<{ projects: ProjectStatus[] }>('worksync_status', {
    project,
  })
  return projects.flatMap(({ conflicts }) => conflicts.map(({ id }) => id))
}
