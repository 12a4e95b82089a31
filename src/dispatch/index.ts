export { createCatalogue } from './catalogue.ts'
export type { Catalogue } from './catalogue.ts'
export {
  checkAssured,
  checkBy,
  checkHalt,
  checkRole,
  checkScope,
  checkSelected,
  hasRole,
  hasScope,
  leastRole,
} from './checks.ts'
export type { Check } from './checks.ts'
export { createUse, discoveryTools, usedTool } from './discovery.ts'
export { createDispatch, readCall } from './dispatch.ts'
export type { Answer, CallFacts, CallRequest, Dispatch } from './dispatch.ts'
export { isListed, isUsable, listingOf } from './listing.ts'
export type { ListedFor } from './listing.ts'
export { nameUnlisted } from './unlisted.ts'
export { startRunner } from './runner.ts'
export { editText, settledOf } from './settled.ts'
export type { EarlierRun } from './settled.ts'
