import * as z from 'zod'
import { isPostgresUrl, isReference, filePath, secretText } from './field-types.ts'

export const storage = z
  .strictObject({
    driver: z
      .enum(['sqlite', 'postgres'])
      .optional()
      .describe('Database engine. Optional: `url` determines it.'),
    path: filePath
      .default('cowork.db')
      .describe('File of the embedded SQLite store. Default cowork.db in the state directory.'),
    url: secretText
      .refine((url) => isReference(url) || isPostgresUrl(url), {
        error: 'must be a postgres:// URL or a reference such as env:DATABASE_URL',
      })
      .optional()
      .describe(
        'PostgreSQL URL, postgres://user:password@host/database, or a reference to it. All state is then stored there.',
      ),
  })
  .refine(({ driver, url }) => driver !== 'postgres' || url !== undefined, {
    path: ['driver'],
    error: 'is postgres, which requires storage.url',
  })
  .refine(({ driver, url }) => driver !== 'sqlite' || url === undefined, {
    path: ['driver'],
    error: 'is sqlite, but storage.url is a PostgreSQL database: remove one of the two',
  })
  .prefault({})
  .describe('Storage of all state.')
