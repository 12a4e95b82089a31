export { governanceTools } from './tools.ts'
