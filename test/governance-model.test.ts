import { expect, test } from 'vitest'
import { tellStories } from './governance-model.ts'
import { sqliteStore } from './governed.ts'

test('T10, A2, A7 under any concurrency each decision is made once and trust equals the ledger', async () => {
  const seen = await tellStories(async () => sqliteStore(), { daemons: 1, stories: 30 })
  // Every kind of event occurred.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})
