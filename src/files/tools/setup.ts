import { existsSync, readFileSync, realpathSync } from 'node:fs'
import * as z from 'zod'
import { writeFileAtomic } from '#base/atomic-file.ts'
import type { Clock } from '#base/clock.ts'
import { parseConfigText, setConfigValue } from '#base/config/edit.ts'
import { currentEnvironment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { checkWorkspaceChoice } from '../workspace-choice.ts'
import type { ChoiceRules } from '../workspace-choice.ts'
import { writes } from './shared-schemas.ts'
import { fileResults } from '../wire.ts'

export type SetupDeps = ChoiceRules & {
  /** The configuration file of this daemon, which may not exist. */
  readonly configFile: string
  readonly now: Clock
}

/** The tool for the first setup step: the workspace (C9). */
export const setupTools = ({ configFile, now, ...rules }: SetupDeps): Tool[] => [
  defineTool({
    ...writes,
    name: 'workspace_choose',
    title: 'Choose workspace',
    description:
      'Set the workspace in the configuration. The change applies after a restart; existing files are not moved.',
    by: 'human',
    role: 'owner',
    idempotent: true,
    input: z.strictObject({ path: z.string().min(1).max(4096).describe('Folder, from / or ~/') }),
    output: fileResults.workspace_choose,
    describeTarget: ({ path }) => ({ domain: 'files', target: path }),
    async run({ path: given }) {
      const { path, namedFolder } = checkWorkspaceChoice(given, rules)
      const before = existsSync(configFile) ? readFileSync(configFile, 'utf8') : undefined
      const text = setConfigValue(before ?? '', ['workspace', 'path'], path)
      const { config: loaded } = parseConfigText(text, configFile, currentEnvironment())
      if (loaded.workspace.path !== path)
        throw new CoworkError(
          'config_overruled',
          `WORKSPACE_PATH is set to ${loaded.workspace.path} and overrides the configuration.`,
          { hint: 'Unset the variable, restart cowork, then choose again.' },
        )
      const changed = text !== before
      const backup = changed && before !== undefined ? backUp(configFile, before, now()) : undefined
      // Keep a symbolic link, for example to a dotfiles folder.
      if (changed)
        writeFileAtomic(before === undefined ? configFile : realpathSync(configFile), text)
      const isHere = path === rules.guard.workspace
      const output = {
        path,
        config: configFile,
        changed,
        ...(backup !== undefined && { backup }),
        restart_needed: !isHere,
        message: [
          ...(namedFolder === undefined
            ? []
            : [`${namedFolder} contains files and is not changed.`]),
          ...(isHere
            ? [`The workspace is already ${path}.`]
            : [
                `The workspace is ${path} after the next start.`,
                `Files in ${rules.guard.workspace} are not moved.`,
              ]),
        ].join(' '),
      }
      return { output }
    },
  }),
]

function backUp(file: string, text: string, at: number): string {
  const copy = `${file}.${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}.bak`
  writeFileAtomic(copy, text)
  return copy
}
