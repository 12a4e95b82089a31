export { createCatalogue } from './catalogue.ts'
export type { Catalogue } from './catalogue.ts'
export {
  checkAssured,
  checkBy,
  checkHalt,
  checkRole,
  checkScope,
  hasRole,
  hasScope,
  leastRole,
} from './checks.ts'
export { createDispatch, readCall } from './dispatch.ts'
export type { Answer, CallFacts, CallRequest, Dispatch } from './dispatch.ts'
