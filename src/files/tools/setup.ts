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
  /** The configuration this daemon was started with, there or not. */
  readonly configFile: string
  readonly now: Clock
}

/** The first question of the first run: where agents keep what they make (C9). */
export const setupTools = ({ configFile, now, ...rules }: SetupDeps): Tool[] => [
  defineTool({
    ...writes,
    name: 'workspace_choose',
    title: 'Choose the workspace',
    description:
      'Writes into the configuration where agents keep their files. A restart applies it; files stay where they are.',
    by: 'human',
    role: 'owner',
    idempotent: true,
    input: z.strictObject({ path: z.string().min(1).max(4096).describe('A folder, from / or ~/') }),
    output: fileResults.workspace_choose,
    describeTarget: ({ path }) => ({ domain: 'files', target: path }),
    async run({ path: given }) {
      const { path, around } = checkWorkspaceChoice(given, rules)
      const before = existsSync(configFile) ? readFileSync(configFile, 'utf8') : undefined
      const text = setConfigValue(before ?? '', ['workspace', 'path'], path)
      const { config: loaded } = parseConfigText(text, configFile, currentEnvironment())
      if (loaded.workspace.path !== path)
        throw new CoworkError(
          'config_overruled',
          `WORKSPACE_PATH says ${loaded.workspace.path}, and wins over the configuration.`,
          { hint: 'Unset the variable where cowork is started, then choose again.' },
        )
      const changed = text !== before
      const backup = changed && before !== undefined ? backUp(configFile, before, now()) : undefined
      // A link of somebody's dotfiles stays one.
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
          ...(around === undefined ? [] : [`${around} holds something already, and stays yours.`]),
          ...(isHere
            ? [`Agents keep their files in ${path} already.`]
            : [
                `From the next start on agents keep their files in ${path}.`,
                `What is in ${rules.guard.workspace} stays there.`,
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
