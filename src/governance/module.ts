import { governanceMigrations } from './migrations.ts'
import { governanceTables } from './recorded.ts'

export const module = { migrations: governanceMigrations, tables: governanceTables }
