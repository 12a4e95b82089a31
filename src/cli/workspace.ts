import type { ToolResults } from '#wire'
import { command, flag, toolCommand } from './command.ts'
import type { CommandSpec } from './command.ts'
import { openExternally } from './open.ts'
import { formatBytes, pluralize, formatFields, sanitize } from './output.ts'
import { resolveFromCwd } from './grants.ts'

export type WorkspaceInfo = ToolResults['get_workspace_info']

const tool = 'get_workspace_info'

const guards: Readonly<Record<string, string>> = {
  landlock: 'kernel (Landlock) and path checks',
  walk: 'path checks',
  checked: 'checks before and after each access',
  starting: 'file worker starting',
}

/** The daemon rounds to 0.01 MB, so a size below 1 MB has no further digits. */
export function formatUsage({ total_files: files, total_size_mb: size }: WorkspaceInfo): string {
  const isBelowResolution = files > 0 && size === 0
  const text = size > 0 && size < 1 ? `${size} MB` : formatBytes(size * 1e6)
  return `${pluralize(files, 'file')}, ${isBelowResolution ? 'less than 10 kB' : text}`
}

/** Shows the path and size of the workspace (FT7). */
const infoCommand = toolCommand({
  usage: 'info',
  summary: 'show the path and size of the workspace',
  tool,
  show: (info) =>
    formatFields({
      workspace: sanitize(info.workspace_path),
      content: formatUsage(info),
      temp: pluralize(info.temp_files, 'file'),
      cleanup: info.last_cleanup ?? 'never',
      sandbox: guards[info.containment],
      'at restart': info.path_after_restart && sanitize(info.path_after_restart),
    }),
  notes: ({ path_after_restart: next }) =>
    next === undefined ? [] : ['Another workspace is configured: run `cowork restart` to use it.'],
})

export const workspaceCommand: CommandSpec = {
  ...infoCommand,
  usage: 'workspace',
  summary: 'show, open or change the workspace',
  commands: [
    infoCommand,
    // Prints the path if there is no file manager.
    command({
      usage: 'open',
      summary: 'open the workspace in the file manager',
      options: { print: flag('--print', 'print the path instead') },
      async run({ client, env, options: { print } }) {
        const { workspace_path: path } = await client.call(tool)
        return { path, opened: !print && (await openExternally(path, env, process.platform)) }
      },
      show: ({ path, opened }) => (opened ? `Opened ${path}.` : path),
    }),
    // Applies from the next start (C9).
    toolCommand({
      usage: 'choose <folder>',
      summary: 'use another folder after the next restart',
      person: 'Choosing the workspace',
      tool: 'workspace_choose',
      input: ({ args: [folder] }) => ({ path: resolveFromCwd(folder) }),
      show: ({ message }) => message,
      notes: ({ restart_needed: isNeeded }) =>
        isNeeded ? ['Run `cowork restart` to apply it now.'] : [],
    }),
  ],
}
