import type { ToolResults } from '#wire'
import { command, flag, toolCommand } from './command.ts'
import type { Entry } from './command.ts'
import { openExternally } from './open.ts'
import { formatBytes, pluralize, formatFields, sanitize } from './output.ts'
import { resolveFromCwd } from './grants.ts'

export type WorkspaceInfo = ToolResults['get_workspace_info']

const tool = 'get_workspace_info'

const guards: Readonly<Record<string, string>> = {
  landlock: 'by the kernel (Landlock) and by cowork',
  walk: 'by cowork',
  checked: 'by checks before and after each access',
  starting: 'the file worker is starting',
}

/** The daemon rounds to hundredths: no digit is told that is not known. */
export function formatUsage({ total_files: files, total_size_mb: size }: WorkspaceInfo): string {
  const least = files > 0 && size === 0
  const told = size > 0 && size < 1 ? `${size} MB` : formatBytes(size * 1e6)
  return `${pluralize(files, 'file')}, ${least ? 'less than 10 kB' : told}`
}

/** Where agents keep their files, and how much there is (FT7). */
const infoCommand = toolCommand({
  usage: 'info',
  summary: 'where it is, and how much there is',
  tool,
  show: (found) =>
    formatFields({
      workspace: sanitize(found.workspace_path),
      holds: formatUsage(found),
      temp: pluralize(found.temp_files, 'file'),
      'clean-up': found.last_cleanup ?? 'not yet',
      guarded: guards[found.containment],
      'at restart': found.path_after_restart && sanitize(found.path_after_restart),
    }),
  notes: ({ path_after_restart: next }) =>
    next === undefined ? [] : ['Another workspace is chosen: `cowork restart` takes it.'],
})

export const workspaceCommand: Entry = {
  ...infoCommand,
  usage: 'workspace',
  summary: 'where agents keep their files',
  commands: [
    infoCommand,
    // Where there is no file manager, its path is printed.
    command({
      usage: 'open',
      summary: 'show it in the file manager',
      options: { print: flag('--print', 'print its path instead') },
      async run({ client, env, options: { print } }) {
        const { workspace_path: path } = await client.call(tool)
        return { path, opened: !print && (await openExternally(path, env, process.platform)) }
      },
      show: ({ path, opened }) => (opened ? `${path} is open.` : path),
    }),
    // From the next start on agents keep their files elsewhere (C9).
    toolCommand({
      usage: 'choose <folder>',
      summary: 'another folder, from the next start on',
      person: 'Choosing the workspace',
      tool: 'workspace_choose',
      input: ({ args: [given] }) => ({ path: resolveFromCwd(given) }),
      show: ({ message }) => message,
      notes: ({ restart_needed: isNeeded }) => (isNeeded ? ['`cowork restart` does it now.'] : []),
    }),
  ],
}
