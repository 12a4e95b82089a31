import { shapes } from 'virtual:wire-shapes'
import { findRouteName } from '../../../src/wire/route-name.ts'
import { findMismatch } from '../../../src/wire/shape.ts'
import type { Shapes } from '../../../src/wire/shape.ts'

const { tools, routes } = shapes as Shapes
const routeNames = Object.keys(routes)

/** Returns the first field of a tool's output that does not fit, and why. Tools of other servers have no shape here. */
export function findToolMismatch(tool: string, output: unknown): string | undefined {
  const shape = Object.hasOwn(tools, tool) ? tools[tool] : undefined
  return shape && findMismatch(shape, output)
}

/** Returns the same for an answer of the REST API, by the requested path without its query. */
export function findRouteMismatch(
  method: string,
  path: string,
  answer: unknown,
): string | undefined {
  const shape = routes[findRouteName(routeNames, method, path) ?? '']
  return shape && findMismatch(shape, answer)
}
