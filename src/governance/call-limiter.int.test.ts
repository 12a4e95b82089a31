import { expect, inject, test } from 'vitest'
import { propose } from '../../test/acts.ts'
import { createMigratedDatabase } from '../../test/databases.ts'
import { governed, postgresStore } from '../../test/governed.ts'

test('V3 concurrent proposals in two daemons and many domains stay within the agent cap', async () => {
  const store = postgresStore(await createMigratedDatabase(inject('postgresUrl')))
  const settings = { 'authority.agent_volume_cap': 10 }
  const first = await governed(settings, {}, store)
  const daemons = [first, await governed(settings, {}, store)]
  const result = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      propose(at % 2 === 0 ? first : (daemons[1] ?? first), { domain: `domain-${at % 8}` }),
    ),
  )
  expect(result.filter(({ status }) => status === 'pending')).toHaveLength(10)
  expect(result.filter(({ fault }) => fault === 'VOLUME_CAP_EXCEEDED')).toHaveLength(30)
})
