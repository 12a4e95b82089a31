import type { TestProject } from 'vitest/node'
import { migrate } from '#base/db/migrate.ts'
import { noSealer } from '#base/db/port.ts'
import { openPostgres } from '#base/db/postgres.ts'
import { silentLog } from '#base/log.ts'
import { migrations } from '../src/app.ts'
import { templateName } from './databases.ts'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}

/** One server for all integration tests; each file creates its own databases. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  const url = await server.createDatabase(templateName)
  const db = await openPostgres({ url, sealer: noSealer, log: silentLog })
  await migrate(db, migrations, 0)
  await db.close()
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}
