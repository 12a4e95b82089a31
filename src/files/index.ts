export { checkWorkspace } from './workspace-choice.ts'
