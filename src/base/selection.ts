import type { Tool } from './tool.ts'
import { findClosestWord } from './config/suggest.ts'
import { CoworkError } from './errors.ts'
import type { SelectionFields } from './selection-fields.ts'

/** The tools that an agent or a connection lists and may call. */
export type ToolSelection = {
  /** Names of tools and toolsets, `core` or `all`. Absent means `core`. Other tools remain callable by name. */
  readonly tools?: readonly string[]
  /** Names of tools and toolsets that are not listed and not callable. */
  readonly exclude?: readonly string[]
  /** Limits the agent to tools that read, request or report. */
  readonly readOnly?: boolean
}

type Selectable = Pick<Tool, 'name' | 'toolset' | 'effect' | 'by' | 'core' | 'isRequestOnly'>

/** Returns undefined for empty fields. An empty `tools` list remains, so that `checkSelection` rejects it. */
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

/** Parses a comma-separated list from a command line or a URL. */
export const parseNames = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Throws for unknown tools and for a selection without any tool to list. */
export function checkSelection(selection: ToolSelection, catalogue: readonly Selectable[]): void {
  const tools = catalogue.filter(({ by }) => by !== 'human')
  const toolsets = [...new Set(tools.map(({ toolset }) => toolset))].toSorted()
  const names = new Set(tools.map(({ name }) => name))
  const groups = ['core', 'all', ...toolsets]
  const isKnown = (name: string) => names.has(name) || groups.includes(name)
  const unknown = [...(selection.tools ?? []), ...(selection.exclude ?? [])].filter(
    (name) => !isKnown(name),
  )
  const valid = `Use ${groups.join(', ')} or tool names, separated by commas.`
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
    throw new CoworkError('empty_selection', 'The selection contains no tools.', {
      hint: `Exclude fewer tools. ${valid}`,
    })
}

const includesTool = (list: readonly string[], { name, toolset, core }: Selectable): boolean =>
  list.includes(name) ||
  list.includes(toolset) ||
  list.includes('all') ||
  (core === true && list.includes('core'))

/** Returns whether the selection allows calls of this tool. */
export const isCallable = (selection: ToolSelection, tool: Selectable): boolean =>
  !includesTool(selection.exclude ?? [], tool) && (!selection.readOnly || isReadOnly(tool))

/** A read-only agent may still propose, log and request access. It cannot decide for people. */
const isReadOnly = ({ effect, toolset, by, isRequestOnly }: Selectable): boolean =>
  effect === 'read' || (toolset === 'cowork' && by !== 'human') || isRequestOnly === true

/** Returns whether the selection lists this tool and allows its calls. */
export const isSelected = (selection: ToolSelection, tool: Selectable): boolean =>
  includesTool(selection.tools ?? ['core'], tool) && isCallable(selection, tool)

/** Combines the selections of an agent and its connection. The connection can replace the list, but not lift an exclusion. */
export function joinSelections(agent: ToolSelection, connection: ToolSelection): ToolSelection {
  const tools = connection.tools ?? agent.tools
  const exclude = [...(agent.exclude ?? []), ...(connection.exclude ?? [])]
  return {
    ...(tools && { tools }),
    ...(exclude.length > 0 && { exclude }),
    ...((agent.readOnly || connection.readOnly) && { readOnly: true }),
  }
}
