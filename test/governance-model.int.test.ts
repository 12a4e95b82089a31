import { expect, inject, test } from 'vitest'
import { createMigratedDatabase } from './databases.ts'
import { tellStories } from './governance-model.ts'
import { postgresStore } from './governed.ts'

test('T10, A2, A7 the same with two daemons on one database', { timeout: 180_000 }, async () => {
  const newStore = async () => postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const seen = await tellStories(newStore, { daemons: 2, stories: 20 })
  // Every kind of event occurred.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})
