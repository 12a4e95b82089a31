import { expect, test } from 'vitest'
import { editorRounds } from './editors/rounds.ts'

const rounds = 3

// Short: `npm run proof W41` does thirty rounds.
test('W41 a program and an editor write the same file, and no edit of either side is lost', async () => {
  const { edits, mutations, conflicts, lost } = await editorRounds({ rounds, edits: 25, seed: 41 })
  expect(lost).toEqual([])
  expect(edits).toBeGreaterThan(rounds * 15)
  expect(mutations).toBeGreaterThan(edits)
  // Both wrote the same field, or one what the other deleted: else half of it was not tried.
  expect(conflicts).toBeGreaterThan(0)
})
