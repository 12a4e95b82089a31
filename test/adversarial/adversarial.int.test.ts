import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { play, played } from './case.ts'
import { closed } from './closed.ts'
import { finds } from './finds.ts'
import { reads } from './reads.ts'
import { openStand } from './stand.ts'
import type { Agent, Stand } from './stand.ts'
import { writes } from './writes.ts'

let stand: Stand
beforeAll(async () => {
  stand = await openStand()
})
afterAll(() => stand.close())

describe.each(['http', 'stdio'] as const)('over %s', (door) => {
  let agent: Agent
  beforeAll(async () => {
    agent = await stand.connect(door)
  })

  test.each(played([...reads, ...finds, ...writes, ...closed], door))(
    'N33 $name',
    async ({ area, one }) => {
      expect.hasAssertions()
      await play(stand, agent, area, one)
    },
  )
})
