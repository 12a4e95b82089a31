import * as z from 'zod'
import { isPostgresUrl, isReference, filePath, secretText } from './field-types.ts'

export const storage = z
  .strictObject({
    driver: z
      .enum(['sqlite', 'postgres'])
      .optional()
      .describe('Engine of the control plane. Follows from `url`, so it need not be written.'),
    path: filePath
      .default('cowork.db')
      .describe('File of the embedded SQLite store. Default cowork.db in the state directory.'),
    url: secretText
      .refine((url) => isReference(url) || isPostgresUrl(url), {
        error: 'must be a postgres:// address or a reference such as env:DATABASE_URL',
      })
      .optional()
      .describe(
        'PostgreSQL address, postgres://user:password@host/database, or a reference to it. Moves the whole control plane there.',
      ),
  })
  .refine((it) => it.driver !== 'postgres' || it.url !== undefined, {
    path: ['driver'],
    error: 'is postgres, so storage.url must say where the database is',
  })
  .refine((it) => it.driver !== 'sqlite' || it.url === undefined, {
    path: ['driver'],
    error: 'is sqlite, but storage.url names a PostgreSQL database: keep one of the two',
  })
  .prefault({})
  .describe('Where state is kept.')
