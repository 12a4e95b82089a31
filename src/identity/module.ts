import { identityMigrations } from './migrations.ts'

export const module = { migrations: identityMigrations }
