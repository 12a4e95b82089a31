import { findClosestWord } from '#base/config/suggest.ts'
import { CoworkError } from '#base/errors.ts'
import { checkSelection, joinSelections, parseNames } from '#base/selection.ts'
import type { ToolSelection } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'
import type { ToolView } from './server.ts'

export const defaultView: ToolView = { selection: {} }

type Query = Readonly<Record<string, string>>

const parameters = ['tools', 'exclude', 'read_only', 'results'] as const

/**
 * Parses the options of an MCP URL: `/mcp/files`,
 * `?tools=…&exclude=…&read_only=true&results=structured` (SV11, SV18). A toolset in the path
 * selects its tools.
 */
export function parseView(
  query: Query,
  toolset: string | undefined,
  tools: readonly Tool[],
): ToolView {
  if (toolset !== undefined && !tools.some((tool) => tool.toolset === toolset))
    throw new CoworkError('unknown_toolset', `Unknown toolset: /mcp/${toolset.slice(0, 100)}.`, {
      hint: 'Use /mcp for the default tools or /mcp?tools=all for all tools.',
    })
  if (toolset === undefined && Object.keys(query).length === 0) return defaultView
  const unknown = Object.keys(query).find((name) => !parameters.some((known) => known === name))
  if (unknown !== undefined) throw unknownParameterError(unknown)
  const { tools: requestedTools, exclude, read_only: readOnly, results } = query
  const chosen = requestedTools === undefined ? toolset : requestedTools
  const selection: ToolSelection = {
    ...(chosen !== undefined && { tools: parseNames(chosen) }),
    ...(exclude !== undefined && { exclude: parseNames(exclude) }),
    ...(readOnly !== undefined && { readOnly: parseFlag('read_only', readOnly, flags) }),
  }
  checkSelection(selection, tools)
  const structured = results !== undefined && parseFlag('results', results, forms)
  return { selection, ...(structured && { structured }) }
}

/** Restricts a view to one toolset: other tools are neither listed nor callable (W1). */
export function onlyToolset(view: ToolView, toolset: string, tools: readonly Tool[]): ToolView {
  const others = new Set(tools.map((tool) => tool.toolset).filter((name) => name !== toolset))
  return { ...view, selection: joinSelections(view.selection, { exclude: [...others] }) }
}

const flags: Readonly<Record<string, boolean>> = { true: true, false: false }
const forms: Readonly<Record<string, boolean>> = { structured: true, text: false }

function parseFlag(
  name: string,
  input: string,
  values: Readonly<Record<string, boolean>>,
): boolean {
  const value = Object.hasOwn(values, input) ? values[input] : undefined
  if (value !== undefined) return value
  throw new CoworkError(
    'unknown_parameter',
    `Invalid URL parameter: ${name}=${input.slice(0, 100)}.`,
    { hint: `Use ${name}=${Object.keys(values)[0]}, or omit it.` },
  )
}

function unknownParameterError(name: string): CoworkError {
  const near = findClosestWord(name, parameters)
  const hint = `Use ${parameters.join(', ')}.`
  return new CoworkError(
    'unknown_parameter',
    `Unknown URL parameter: ${JSON.stringify(name.slice(0, 100))}.`,
    { hint: near ? `Did you mean ${near}? ${hint}` : hint },
  )
}
