import { governanceMigrations } from './migrations.ts'
import { governanceTables } from './recorded-tables.ts'

export const module = { migrations: governanceMigrations, tables: governanceTables }
