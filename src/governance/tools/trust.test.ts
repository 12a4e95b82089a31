import { expect, test } from 'vitest'
import { proposed, trusted } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'

test('T16 setting the trust of an unknown name works and reports that it is new', async () => {
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
  // The name is known now.
  expect(await trusted(system, 0.5, 'slaes', 'erp')).not.toHaveProperty('note')
})
