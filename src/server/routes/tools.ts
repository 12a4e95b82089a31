import * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import { isCallable } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'
import { hasRole, hasScope, requiredRole } from '#dispatch'
import type { ToolRegistry, Dispatch } from '#dispatch'
import { sendProblemByCode } from '../guards.ts'
import type { ToHttpStatus } from '../guards.ts'
import { toWireTool } from '../mcp/wire.ts'
import { serverAnswers } from '../wire.ts'
import type { ListedTool } from '../wire.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = {
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  readonly toHttpStatus: ToHttpStatus
}

/** Serves tool calls over HTTP, through the same dispatch. */
export const toolRoutes = ({ registry, dispatch, toHttpStatus }: Deps): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/tools',
    summary: 'Tools that the caller can use',
    by: 'anyone',
    answer: serverAnswers['GET /api/tools'],
    run: async (_, c) =>
      registry
        .list()
        .filter((tool) => canUseTool(c.get('caller'), tool))
        .map(listingOf),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/tools/{name}/call',
    summary: 'Call a tool',
    by: 'anyone',
    params: z.object({ name: z.string() }),
    body: z.strictObject({ arguments: z.record(z.string(), z.unknown()).default({}) }),
    isLarge: ({ name }) => registry.find(name)?.large === true,
    answer: serverAnswers['POST /api/tools/{name}/call'],
    async run({ params, body }, c) {
      const answer = await dispatch({
        tool: params.name,
        arguments: body.arguments,
        caller: c.get('caller'),
        signal: c.req.raw.signal,
        traceparent: c.req.header('traceparent'),
      })
      if (answer.status !== 'done') return sendProblemByCode(c, toHttpStatus, answer)
      const { call, output, notes, earlier } = answer
      return {
        call,
        output,
        ...(notes && { notes: [...notes] }),
        ...(earlier && { earlier: { ...earlier } }),
      }
    },
  }),
]

export const canUseTool = (caller: Caller, tool: Tool): boolean =>
  (tool.by === 'anyone' || tool.by === caller.kind) &&
  hasRole(caller, tool) &&
  hasScope(caller, tool) &&
  isCallable(caller.selection ?? {}, tool)

function listingOf(tool: Tool): ListedTool {
  const { inputSchema, outputSchema } = toWireTool(tool)
  const { name, title, description, effect, by, toolset } = tool
  return {
    name,
    title,
    description,
    effect,
    by,
    toolset,
    role: requiredRole(tool),
    inputSchema,
    ...(outputSchema && { outputSchema }),
  }
}
