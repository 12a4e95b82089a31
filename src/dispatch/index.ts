export { createToolRegistry as createCatalogue } from './tool-registry.ts'
export type { ToolRegistry as Catalogue } from './tool-registry.ts'
export {
  checkPasskey as checkAssured,
  checkCallerKind as checkBy,
  checkHalt,
  checkRole,
  checkScope,
  checkSelected,
  hasRole,
  hasScope,
  requiredRole as leastRole,
} from './checks.ts'
export type { Check } from './checks.ts'
export { createUse, discoveryTools, usedTool } from './discovery.ts'
export { createDispatch, parseCallArguments as readCall } from './dispatch.ts'
export type {
  CallResult as Answer,
  CallTraceFacts as CallFacts,
  CallRequest,
  Dispatch,
} from './dispatch.ts'
export { isListed, isUsable, listingOf } from './listing.ts'
export type { ListedFor } from './listing.ts'
export { nameUnlisted } from './unlisted-tool.ts'
export { startRunner } from './runner.ts'
export { editText, settledOf } from './settled-call.ts'
export type { EarlierRun } from './settled-call.ts'
