import { shapes } from 'virtual:wire-shapes'
import { findRouteName } from '../../../src/wire/route-name.ts'
import { findMismatch } from '../../../src/wire/shape.ts'
import type { Shapes } from '../../../src/wire/shape.ts'

const { tools, routes } = shapes as Shapes
const routeNames = Object.keys(routes)

/** Returns the first field of a tool's output that does not match its schema. Tools of other servers have no schema. */
export function findToolMismatch(tool: string, output: unknown): string | undefined {
  const shape = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  return shape && findMismatch(shape, output)
}

/** Returns the first field of a REST response that does not match its schema, by the path without the query. */
export function findRouteMismatch(
  method: string,
  path: string,
  answer: unknown,
): string | undefined {
  const shape = routes[findRouteName(routeNames, method, path) ?? '']
  return shape && findMismatch(shape, answer)
}
