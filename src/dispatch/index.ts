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
export { createDispatch } from './dispatch.ts'
export type { Answer, CallRequest, Dispatch } from './dispatch.ts'
