export type { GuardedFiles } from './guarded.ts'
