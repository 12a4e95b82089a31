import { expect, inject, test } from 'vitest'
import { crashRounds } from './crash/rounds.ts'
import { createTestDatabase } from './databases.ts'

const rounds = 3

test.each([
  ['SQLite', 1, () => Promise.resolve(undefined)],
  ['PostgreSQL', 2, () => createTestDatabase(inject('postgresUrl'))],
] as const)(
  'L12 N30 no acknowledged write is lost when the daemon is killed, on %s',
  async (_, seed, database) => {
    const { acknowledged, faults } = await crashRounds({ rounds, seed, url: await database() })
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThan(rounds)
  },
  120_000,
)
