import { ledgerMigrations } from './migrations.ts'

export const module = { migrations: ledgerMigrations }
