import { expect, test } from 'vitest'
import { tellStories } from './governance-model.ts'
import { sqliteStore } from './governed.ts'

test('T10, A2, A7 whatever is done at once, each decision is made once and trust is what the ledger says', async () => {
  const seen = await tellStories(async () => sqliteStore(), { daemons: 1, stories: 30 })
  // All of it happened.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})
