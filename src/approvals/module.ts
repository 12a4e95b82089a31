import { approvalMigrations } from './migrations.ts'
import { notifyMigrations } from './notify/migrations.ts'

export const module = { migrations: [...approvalMigrations, ...notifyMigrations] }
