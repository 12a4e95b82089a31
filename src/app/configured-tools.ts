import { settingError } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import type { SelectionFields } from '#base/selection-fields.ts'
import { checkSelection, toSelection } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'

/**
 * Throws for unknown tools of an agent: ignoring an unknown name in `exclude` would allow more
 * (SV18).
 */
export function checkConfiguredTools(
  { agents }: Pick<Config, 'agents'>,
  file: string,
  tools: readonly Tool[],
): void {
  for (const [index, agent] of agents.entries()) {
    const check = (key: 'tools' | 'exclude', fields: SelectionFields) => {
      try {
        const selection = toSelection(fields)
        if (selection) checkSelection(selection, tools)
      } catch (error) {
        if (!(error instanceof CoworkError)) throw error
        throw settingError(file, ['agents', index, key], `${error.message} ${error.hint}`)
      }
    }
    check('tools', { tools: agent.tools })
    check('exclude', { exclude: agent.exclude })
    check('tools', agent)
  }
}
