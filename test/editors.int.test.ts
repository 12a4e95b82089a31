import { expect, test } from 'vitest'
import { editorRounds } from './editors/rounds.ts'

const rounds = 3

// Short: `npm run proof W41` does thirty rounds.
test('W41 loses no edit when a program and an editor write the same file', async () => {
  const { edits, mutations, conflicts, lost } = await editorRounds({ rounds, edits: 25, seed: 41 })
  expect(lost).toEqual([])
  expect(edits).toBeGreaterThan(rounds * 15)
  expect(mutations).toBeGreaterThan(edits)
  // Both sides changed the same field, or one a deleted story: otherwise conflicts were not tested.
  expect(conflicts).toBeGreaterThan(0)
})
