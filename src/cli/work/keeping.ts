import { sides } from '../choices.ts'
import type { Client } from '../client.ts'
import { toolCommand } from '../command.ts'
import { pathHere } from '../grants.ts'
import { list, text, yes } from '../option-kinds.ts'
import { byPrefix } from '../prefix.ts'
import { countText } from '../sizes.ts'
import { confirmed } from '../terminal.ts'
import { claimOf, projectNamed } from './asking.ts'
import { changeCommand } from './changing.ts'
import type { ProjectStatus } from './wire.ts'

/** Ends a conflict between an edit of the file and an agent's change (W5). */
export const resolveCommand = changeCommand({
  usage: 'resolve <conflict> <take>',
  summary: 'end a conflict between the file and an agent',
  args: { take: { about: 'what stands, or what the file said', choices: sides } },
  tool: 'worksync_resolve',
  async input({ client, args: [given, take] }, project) {
    const known = await conflictsOf(client, project)
    // Of many only the first are told; the daemon knows the rest.
    const isTold = known.some((one) => one.startsWith(given))
    return { conflict_id: isTold ? byPrefix(given, known, 'conflict') : given, take }
  },
  show: (_, { args: [, take] }) =>
    take === 'ours' ? 'It stays as it stands.' : 'What the file said is what stands now.',
})

async function conflictsOf(client: Client, project: string): Promise<string[]> {
  const asked = { project }
  const { projects } = await client.call('worksync_status', asked)
  return (projects as ProjectStatus[]).flatMap(({ conflicts }) => conflicts.map(({ id }) => id))
}

export const keepingCommands = [
  // With a repository, texts of it are read to agents from then on: a person says so.
  toolCommand({
    usage: 'register <name>',
    summary: 'add a project',
    options: {
      repo: text('--repo <folder>', 'its repository; guidance is read from there'),
      description: text('--description <text>', 'what it is'),
      inherit: list(
        '--inherit <names...>',
        'guidance it takes (default: general, ai-collaboration)',
      ),
    },
    tool: 'worksync_register_project',
    async input(call) {
      const { repo, description, inherit } = call.options
      if (repo !== undefined) await call.person('Registering a project with a repository')
      return {
        project: call.args[0],
        repo: repo === undefined ? undefined : pathHere(repo),
        description,
        guidance: inherit && { inherit },
        ...claimOf(call),
      }
    },
    show: ({ project, folder }) => `${project} is kept in ${folder}.`,
  }),
  toolCommand({
    usage: 'unregister <name>',
    summary: 'forget a project; its files stay',
    options: { yes: yes('without asking') },
    person: 'Unregistering a project',
    tool: 'worksync_unregister_project',
    async input(call) {
      const [project] = call.args
      await confirmed(`Take ${project} out of the registry? Its files stay.`, call.options)
      return { project, ...claimOf(call) }
    },
    show: ({ project, folder }) => `${project} is no project any more. Its files are in ${folder}.`,
  }),
  // Writes the notes that changed (W18).
  toolCommand({
    usage: 'sync',
    summary: 'write the Obsidian vault',
    tool: 'worksync_sync',
    input: async (call) => ({ project: await projectNamed(call), ...claimOf(call) }),
    show: ({ written, removed, notes, vault_path: folder }) =>
      `${written} of ${countText(notes, 'note')} written, ${removed} removed, in ${folder}.`,
  }),
]
