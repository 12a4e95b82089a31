import type { Context } from 'hono'
import * as z from 'zod'
import { McpResult } from '#base/tool.ts'
import type { ToolRegistry, Dispatch } from '#dispatch'
import { gatewayAnswers } from '#gateway/wire.ts'
import { sendProblemByCode } from '../guards.ts'
import type { Env, ToHttpStatus } from '../guards.ts'
import { defineRoute } from './route.ts'
import type { Route } from './route.ts'

type Deps = {
  readonly registry: ToolRegistry
  readonly dispatch: Dispatch
  readonly toHttpStatus: ToHttpStatus
}

const server = z.string().min(1).max(100)
const params = z.object({ server })
const paging = z.object({ cursor: z.string().max(1000).optional() })

/** The routes of seed 002 about upstream servers (U3). Every one of them is a call through dispatch (U5). */
export function upstreamRoutes({ registry, dispatch, toHttpStatus }: Deps): Route[] {
  /** Calls a tool and turns its output into the answer, or sends the refusal. */
  async function answer(
    c: Context<Env>,
    tool: string,
    args: unknown,
    toAnswer: (output: never) => Readonly<Record<string, unknown>>,
  ) {
    const result = await dispatch({
      tool,
      arguments: args,
      caller: c.get('caller'),
      signal: c.req.raw.signal,
      traceparent: c.req.header('traceparent'),
    })
    if (result.status !== 'done') return sendProblemByCode(c, toHttpStatus, result)
    const output = result.output instanceof McpResult ? result.output.result : result.output
    return { ok: true, ...toAnswer(output as never) } as never
  }

  /** The qualified name; an unknown tool keeps its raw name in the error. */
  const toolName = (toolset: string, name: string): string =>
    registry.list().find((tool) => tool.toolset === toolset && tool.upstream === name)?.name ??
    `${toolset}__${name}`

  const toResult = (result: Readonly<Record<string, unknown>>) => ({ result })

  return [
    defineRoute({
      method: 'GET',
      path: '/api/mcp/servers',
      summary: 'The MCP servers behind cowork',
      by: 'human',
      answer: gatewayAnswers['GET /api/mcp/servers'],
      run: (_, c) =>
        answer(c, 'cowork_servers', {}, ({ servers }: { servers: readonly ServerAnswer[] }) => ({
          servers: servers.map(({ name, description, status }) => ({ name, description, status })),
        })),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/mcp/servers/{server}/tools',
      summary: 'The tools of a server, as the server lists them',
      by: 'human',
      params,
      query: paging,
      answer: gatewayAnswers['GET /api/mcp/servers/{server}/tools'],
      run: ({ params: { server: name } }, c) =>
        answer(c, 'cowork_server_tools', { server: name }, ({ raw }: { raw: unknown }) => ({
          tools: raw,
        })),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/mcp/servers/{server}/tools/call',
      summary: 'Calls a tool of a server',
      by: 'anyone',
      params,
      body: z.strictObject({
        name: z.string().min(1).max(300),
        arguments: z.record(z.string(), z.unknown()).default({}),
      }),
      answer: gatewayAnswers['POST /api/mcp/servers/{server}/tools/call'],
      run: ({ params: { server: toolset }, body }, c) =>
        answer(c, toolName(toolset, body.name), body.arguments, toResult),
    }),
    ...(['resources', 'resource-templates'] as const).map((list) =>
      defineRoute({
        method: 'GET',
        path: `/api/mcp/servers/{server}/${list}`,
        summary: `The ${list.replace('-', ' ')} of a server`,
        by: 'human',
        params,
        query: paging,
        answer: gatewayAnswers[`GET /api/mcp/servers/{server}/${list}`],
        run: ({ params: { server: name }, query: { cursor } }, c) =>
          answer(
            c,
            'cowork_server_resources',
            { server: name, templates: list === 'resource-templates', cursor },
            toResult,
          ),
      }),
    ),
    defineRoute({
      method: 'GET',
      path: '/api/mcp/servers/{server}/resource',
      summary: 'One resource of a server',
      by: 'human',
      params,
      query: z.object({ uri: z.string().min(1).max(4000) }),
      answer: gatewayAnswers['GET /api/mcp/servers/{server}/resource'],
      run: ({ params: { server: name }, query: { uri } }, c) =>
        answer(c, 'cowork_server_resource', { server: name, uri }, toResult),
    }),
  ]
}

type ServerAnswer = { readonly name: string; readonly description: string; readonly status: object }
