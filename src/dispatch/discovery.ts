import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { callerArguments } from './arguments.ts'
import { unknownToolHint } from './tool-registry.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { CallRequest, Dispatch } from './dispatch.ts'
import { isUsable, listingOf } from './listing.ts'
import { dispatchResults } from './wire.ts'

const useName = 'cowork_use'
const maxFound = 8

type Deps = {
  /** A function, since these tools are part of the catalogue themselves. */
  readonly catalogue: () => ToolRegistry
  readonly isOpen: () => boolean
}

/** The tools by which a model reaches those that are not listed (SV17). */
export const discoveryTools = ({ catalogue, isOpen }: Deps): Tool[] => [
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
      query: z.string().max(500).describe('What you want to do'),
    }),
    output: dispatchResults.cowork_find_tools,
    async read({ query }, { caller }) {
      const usable = catalogue()
        .list()
        .filter((tool) => isUsable(tool, caller, isOpen()) && tool.name !== useName)
      const found = rankTools(usable, query).slice(0, maxFound)
      return {
        tools: found.map((tool) => {
          const { name, description, inputSchema } = listingOf(tool)
          return { name, description, input_schema: inputSchema }
        }),
        others: usable.filter((tool) => !found.includes(tool)).map(({ name }) => name),
        message:
          found.length > 0
            ? `Call one with ${useName}: its name as tool, and arguments as its input_schema says.`
            : 'No tool matches. Choose one of the others by its name, and search for that name.',
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
    // By itself it does nothing; the effect of the tool that it calls is checked (SV17).
    effect: 'read',
    listing: { annotations: { destructiveHint: true, openWorldHint: true } },
    by: 'anyone',
    input: z.strictObject({
      tool: z.string().max(128).describe('Name from cowork_find_tools'),
      arguments: z.record(z.string(), z.unknown()).default({}),
    }),
    output: dispatchResults.cowork_use,
    // Calls of a known tool never get here: `createUse` hands them on as calls of that tool.
    read: ({ tool }) => Promise.reject(cannotUse(tool, catalogue())),
  }),
]

/** Turns cowork_use into the call that it names, before anything looks at it. */
export const createUse =
  (dispatch: Dispatch, catalogue: ToolRegistry): Dispatch =>
  (request) =>
    dispatch(usedCall(request, catalogue) ?? request)

function usedCall(request: CallRequest, catalogue: ToolRegistry): CallRequest | undefined {
  const use = usedTool(request.tool, request.arguments)
  if (!use || use.tool === useName || !catalogue.find(use.tool)) return undefined
  return { ...request, ...use }
}

/** The tool and arguments inside a call of cowork_use; undefined for any other or a malformed one. */
export function usedTool(
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

function cannotUse(tool: string, catalogue: ToolRegistry): CoworkError {
  const shown = JSON.stringify(tool)
  if (tool === useName)
    return new CoworkError('invalid_input', `${useName} cannot call itself.`, {
      hint: 'Give the name of the tool you want, and its arguments.',
    })
  return new CoworkError('unknown_tool', `There is no tool named ${shown}.`, {
    hint: unknownToolHint(catalogue, tool),
  })
}

/** Tools that match a query, best first: names count most, then descriptions, then names of arguments. */
export function rankTools(tools: readonly Tool[], query: string): Tool[] {
  const words = wordsOf(query)
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, words, query) }))
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

function scoreOf(tool: Tool, words: readonly string[], query: string): number {
  if (query.trim() === tool.name) return Infinity
  const parts = [
    { weight: 4, words: wordsOf(tool.name) },
    { weight: 2, words: wordsOf(tool.title) },
    { weight: 1, words: [...wordsOf(tool.description), ...Object.keys(tool.input.shape)] },
  ]
  let score = 0
  for (const word of words)
    for (const part of parts)
      if (part.words.some((other) => isAlike(word, other))) score += part.weight
  return score
}

/** Too common to tell tools apart. */
const noise = new Set(['the', 'and', 'for', 'with', 'what', 'from', 'tool', 'tools', 'cowork'])

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2 && !noise.has(word))

/** Endings differ: `restore`, `restored`, `versions`. */
const isAlike = (a: string, b: string): boolean => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return long.startsWith(short.length > 4 ? short.slice(0, -1) : short)
}
