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
 * Reads what an MCP address asks for: `/mcp/files`, `?tools=…&exclude=…&read_only=true&results=structured` (SV11, SV18).
 * A toolset of the path is a choice of tools.
 */
export function parseView(
  query: Query,
  toolset: string | undefined,
  tools: readonly Tool[],
): ToolView {
  if (toolset !== undefined && !tools.some((tool) => tool.toolset === toolset))
    throw new CoworkError('unknown_toolset', `/mcp/${toolset.slice(0, 100)} has no tools.`, {
      hint: 'The default list is at /mcp, all tools are at /mcp?tools=all.',
    })
  if (toolset === undefined && Object.keys(query).length === 0) return defaultView
  const unknown = Object.keys(query).find((name) => !parameters.some((known) => known === name))
  if (unknown !== undefined) throw unknownParameter(unknown)
  const { tools: wanted, exclude, read_only: readOnly, results } = query
  const chosen = wanted === undefined ? toolset : wanted
  const selection: ToolSelection = {
    ...(chosen !== undefined && { tools: parseNames(chosen) }),
    ...(exclude !== undefined && { exclude: parseNames(exclude) }),
    ...(readOnly !== undefined && { readOnly: oneOf('read_only', readOnly, flags) }),
  }
  checkSelection(selection, tools)
  const structured = results !== undefined && oneOf('results', results, forms)
  return { selection, ...(structured && { structured }) }
}

/** Leaves one toolset alone: other tools are neither listed nor called (W1). */
export function onlyToolset(view: ToolView, toolset: string, tools: readonly Tool[]): ToolView {
  const others = new Set(tools.map((tool) => tool.toolset).filter((name) => name !== toolset))
  return { ...view, selection: joinSelections(view.selection, { exclude: [...others] }) }
}

const flags: Readonly<Record<string, boolean>> = { true: true, false: false }
const forms: Readonly<Record<string, boolean>> = { structured: true, text: false }

function oneOf(name: string, given: string, values: Readonly<Record<string, boolean>>): boolean {
  const value = Object.hasOwn(values, given) ? values[given] : undefined
  if (value !== undefined) return value
  throw new CoworkError(
    'unknown_parameter',
    `${name}=${given.slice(0, 100)} is not understood in the address.`,
    { hint: `Use ${name}=${Object.keys(values)[0]}, or leave it out.` },
  )
}

function unknownParameter(name: string): CoworkError {
  const near = findClosestWord(name, parameters)
  const hint = `The address takes ${parameters.join(', ')}.`
  return new CoworkError(
    'unknown_parameter',
    `${JSON.stringify(name.slice(0, 100))} is not understood in the address.`,
    { hint: near ? `Did you mean ${near}? ${hint}` : hint },
  )
}
