export { governanceTools } from './tools.ts'
export type { GovernanceDeps } from './tools.ts'
