import type * as z from 'zod'
import { routeAnswers, toolResults } from './registry.ts'
import { findRouteName } from './route-name.ts'

const tools = new Map<string, z.ZodType>(Object.entries(toolResults))
const routes = new Map<string, z.ZodType>(Object.entries(routeAnswers))

/**
 * Returns the first field of a tool's output that does not match, and why. Tools of other servers
 * have no schema here.
 */
export const findToolMismatch = (tool: string, output: unknown): string | undefined =>
  findMismatch(tools.get(tool), output)

/** Returns the first mismatch of a REST response, by the requested path without its query. */
export const findRouteMismatch = (
  method: string,
  path: string,
  answer: unknown,
): string | undefined =>
  findMismatch(routes.get(findRouteName([...routes.keys()], method, path) ?? ''), answer)

/** Ignores unknown fields: a newer daemon may return more. */
function findMismatch(schema: z.ZodType | undefined, answer: unknown): string | undefined {
  const issue = schema
    ?.safeParse(answer)
    .error?.issues.find(({ code }) => code !== 'unrecognized_keys')
  return issue && `${issue.path.join('.') || 'answer'}: ${issue.message}`
}
