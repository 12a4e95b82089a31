export { findRouteMismatch, findToolMismatch } from './check.ts'
export { routeAnswers, toolResults } from './registry.ts'
export type { RouteAnswers, ToolName, ToolResults } from './registry.ts'
