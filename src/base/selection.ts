import type { Tool } from './tool.ts'
import { findClosestWord } from './config/suggest.ts'
import { CoworkError } from './errors.ts'
import type { SelectionFields } from './selection-fields.ts'

/** The tools that an agent or a connection lists, and those it may not call. */
export type ToolSelection = {
  /** Names of tools and toolsets, `core` or `all`. Absent means `core`. Other tools stay callable by name. */
  readonly tools?: readonly string[]
  /** Names of tools and toolsets that are neither listed nor callable. */
  readonly exclude?: readonly string[]
  /** Lists and calls only tools that read, and the tools with which an agent asks and reports. */
  readonly readOnly?: boolean
}

type Selectable = Pick<Tool, 'name' | 'toolset' | 'effect' | 'by' | 'core' | 'isRequestOnly'>

/** Undefined for fields that choose nothing. An empty `tools` stays, so that `checkSelection` refuses it. */
export function toSelection({
  tools,
  exclude = [],
  read_only,
}: SelectionFields): ToolSelection | undefined {
  const selection = {
    ...(tools && { tools: [...new Set(tools)] }),
    ...(exclude.length > 0 && { exclude: [...new Set(exclude)] }),
    ...(read_only && { readOnly: true }),
  }
  return Object.keys(selection).length > 0 ? selection : undefined
}

export const toFields = ({ tools, exclude, readOnly }: ToolSelection = {}) => ({
  ...(tools && { tools: [...tools] }),
  ...(exclude && { exclude: [...exclude] }),
  ...(readOnly && { read_only: true }),
})

/** A comma-separated list, as people write it on a command line or in a URL. */
export const parseNames = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Throws for names that no tool of agents has, and for a selection that leaves nothing to list. */
export function checkSelection(selection: ToolSelection, catalogue: readonly Selectable[]): void {
  const tools = catalogue.filter(({ by }) => by !== 'human')
  const toolsets = [...new Set(tools.map(({ toolset }) => toolset))].toSorted()
  const names = new Set(tools.map(({ name }) => name))
  const groups = ['core', 'all', ...toolsets]
  const isKnown = (name: string) => names.has(name) || groups.includes(name)
  const unknown = [...(selection.tools ?? []), ...(selection.exclude ?? [])].filter(
    (name) => !isKnown(name),
  )
  const valid = `Use ${groups.join(', ')} or the names of tools, separated by commas.`
  if (unknown.length > 0) {
    const [first = ''] = unknown
    const near = findClosestWord(first, [...groups, ...names])
    const hint = near === undefined ? valid : `Did you mean ${near}? ${valid}`
    const shown = unknown.map((name) => JSON.stringify(name.slice(0, 100))).join(', ')
    throw new CoworkError('unknown_tools', `Unknown tools: ${shown}.`, {
      hint,
      details: { valid: [...groups, ...names] },
    })
  }
  if (!tools.some((tool) => isSelected(selection, tool)))
    throw new CoworkError('empty_selection', 'This selection of tools leaves none to list.', {
      hint: `Exclude less. ${valid}`,
    })
}

const names = (list: readonly string[], { name, toolset, core }: Selectable): boolean =>
  list.includes(name) ||
  list.includes(toolset) ||
  list.includes('all') ||
  (core === true && list.includes('core'))

/** Whether the selection lets this tool be called. */
export const isCallable = (selection: ToolSelection, tool: Selectable): boolean =>
  !names(selection.exclude ?? [], tool) && (!selection.readOnly || isReadOnly(tool))

/** An agent that only reads still proposes, logs and asks for access; it does not decide for people. */
const isReadOnly = ({ effect, toolset, by, isRequestOnly }: Selectable): boolean =>
  effect === 'read' || (toolset === 'cowork' && by !== 'human') || isRequestOnly === true

/** Whether the selection names this tool and lets it be called. */
export const isSelected = (selection: ToolSelection, tool: Selectable): boolean =>
  names(selection.tools ?? ['core'], tool) && isCallable(selection, tool)

/** A connection chooses its own list; what is excluded for its agent stays excluded. */
export function joinSelections(agent: ToolSelection, connection: ToolSelection): ToolSelection {
  const tools = connection.tools ?? agent.tools
  const exclude = [...(agent.exclude ?? []), ...(connection.exclude ?? [])]
  return {
    ...(tools && { tools }),
    ...(exclude.length > 0 && { exclude }),
    ...((agent.readOnly || connection.readOnly) && { readOnly: true }),
  }
}
