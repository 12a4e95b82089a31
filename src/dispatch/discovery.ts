import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { callerArguments } from './arguments.ts'
import { unknownToolHint } from './tool-registry.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { CallRequest, Dispatch } from './dispatch.ts'
import { isUsable, toListing } from './listing.ts'
import { dispatchResults } from './wire.ts'

const useName = 'cowork_use'
const maxResults = 8

type Deps = {
  /** A function, because these tools are part of the registry themselves. */
  readonly registry: () => ToolRegistry
  readonly isOpen: () => boolean
}

/** Creates the tools with which a model reaches unlisted tools (SV17). */
export const discoveryTools = ({ registry, isOpen }: Deps): Tool[] => [
  defineTool({
    name: 'cowork_find_tools',
    title: 'Find tools',
    core: true,
    description:
      'Find tools that are not in your list: versions, trash, sprints, backlog, history, trust, grants, audit. Returns their input schemas for cowork_use.',
    toolset: 'cowork',
    effect: 'read',
    by: 'agent',
    input: z.strictObject({
      query: z.string().max(500).describe('Task to do'),
    }),
    output: dispatchResults.cowork_find_tools,
    async read({ query }, { caller }) {
      const usable = registry()
        .list()
        .filter((tool) => isUsable(tool, caller, isOpen()) && tool.name !== useName)
      const found = rankTools(usable, query).slice(0, maxResults)
      return {
        tools: found.map((tool) => {
          const { name, description, inputSchema } = toListing(tool)
          return { name, description, input_schema: inputSchema }
        }),
        others: usable.filter((tool) => !found.includes(tool)).map(({ name }) => name),
        message:
          found.length > 0
            ? `Call a tool with ${useName}: its name as tool, and arguments according to its input_schema.`
            : 'No matches. Choose a name from others and search for that name.',
      }
    },
  }),
  defineTool({
    name: useName,
    title: 'Use a tool',
    core: true,
    description:
      'Call a tool that is not in your list, by name. It is checked and recorded like a direct call.',
    toolset: 'cowork',
    // The effect of the called tool is checked; this tool itself has none (SV17).
    effect: 'read',
    listing: { annotations: { destructiveHint: true, openWorldHint: true } },
    by: 'anyone',
    input: z.strictObject({
      tool: z.string().max(128).describe('Name from cowork_find_tools'),
      arguments: z.record(z.string(), z.unknown()).default({}),
    }),
    output: dispatchResults.cowork_use,
    // `createUseHandler` converts calls of known tools, so only unknown tools reach this line.
    read: ({ tool }) => Promise.reject(useError(tool, registry())),
  }),
]

/** Converts a call of cowork_use into a call of the named tool, before any check. */
export const createUseHandler =
  (dispatch: Dispatch, registry: ToolRegistry): Dispatch =>
  (request) =>
    dispatch(unwrapCall(request, registry) ?? request)

function unwrapCall(request: CallRequest, registry: ToolRegistry): CallRequest | undefined {
  const use = parseUse(request.tool, request.arguments)
  if (!use || use.tool === useName || !registry.find(use.tool)) return undefined
  return { ...request, ...use }
}

/** Returns the tool and arguments of a cowork_use call; undefined for other or malformed calls. */
export function parseUse(
  name: string,
  args: unknown,
): { readonly tool: string; readonly arguments: unknown } | undefined {
  if (name !== useName || typeof args !== 'object' || args === null || !('tool' in args))
    return undefined
  const { tool, arguments: inner = {}, ...others } = args as Readonly<Record<string, unknown>>
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
  const isMalformed = typeof tool !== 'string' || !isObject
  return isMalformed || Object.keys(others).some((key) => !callerArguments.has(key))
    ? undefined
    : { tool, arguments: inner }
}

function useError(tool: string, registry: ToolRegistry): CoworkError {
  const shown = JSON.stringify(tool)
  if (tool === useName)
    return new CoworkError('invalid_input', `${useName} cannot call itself.`, {
      hint: 'Pass the name and the arguments of another tool.',
    })
  return new CoworkError('unknown_tool', `Unknown tool: ${shown}.`, {
    hint: unknownToolHint(registry, tool),
  })
}

/**
 * Ranks matching tools, best first: names weigh most, then titles, then descriptions and argument
 * names.
 */
export function rankTools(tools: readonly Tool[], query: string): Tool[] {
  const words = tokenize(query)
  const scored = tools.map((tool) => ({ tool, score: scoreTool(tool, words, query) }))
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

function scoreTool(tool: Tool, words: readonly string[], query: string): number {
  if (query.trim() === tool.name) return Infinity
  const parts = [
    { weight: 4, words: tokenize(tool.name) },
    { weight: 2, words: tokenize(tool.title) },
    { weight: 1, words: [...tokenize(tool.description), ...Object.keys(tool.input.shape)] },
  ]
  let score = 0
  for (const word of words)
    for (const part of parts)
      if (part.words.some((other) => sharesPrefix(word, other))) score += part.weight
  return score
}

/** Words that are too common to distinguish tools. */
const stopWords = new Set(['the', 'and', 'for', 'with', 'what', 'from', 'tool', 'tools', 'cowork'])

const tokenize = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2 && !stopWords.has(word))

/** True if one word starts with the other, ignoring a short ending: `restore`, `restored`. */
const sharesPrefix = (a: string, b: string): boolean => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return long.startsWith(short.length > 4 ? short.slice(0, -1) : short)
}
