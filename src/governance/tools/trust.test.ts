import { expect, test } from 'vitest'
import { proposed, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'

test('T16 a name that nothing is on record of is set, and said to be new', async () => {
  const system = await governed()
  await proposed(system)
  expect(await trusted(system, 0.9)).toEqual({
    agent_id: 'sales',
    domain: 'crm',
    from: 0.3,
    to: 0.9,
  })
  expect(await trusted(system, 0.9, 'slaes')).toMatchObject({
    to: 0.9,
    note: expect.stringContaining('"slaes"'),
  })
  // Known from now on.
  expect(await trusted(system, 0.5, 'slaes', 'erp')).not.toHaveProperty('note')
})
