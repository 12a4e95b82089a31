export { createToolRegistry } from './tool-registry.ts'
export type { ToolRegistry } from './tool-registry.ts'
export {
  checkPasskey,
  checkCallerKind,
  checkHalt,
  checkRole,
  checkScope,
  checkSelected,
  hasRole,
  hasScope,
  requiredRole,
} from './checks.ts'
export type { Check } from './checks.ts'
export { createUseHandler, discoveryTools, parseUse } from './discovery.ts'
export { createDispatch, parseCallArguments } from './dispatch.ts'
export type { CallResult, CallTraceFacts, CallRequest, Dispatch } from './dispatch.ts'
export { isListed, isUsable, toListing } from './listing.ts'
export type { ListedFor } from './listing.ts'
export { addUnlistedToolHint } from './unlisted-tool.ts'
export { startRunner } from './runner.ts'
export { editText, toSettled } from './settled-call.ts'
export type { EarlierRun } from './settled-call.ts'
