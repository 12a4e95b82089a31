export { createHalts } from './halt.ts'
export type { Halts } from './halt.ts'
export { approvalMigrations } from './migrations.ts'
export { haltTools } from './tools.ts'
