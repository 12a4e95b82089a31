import { expect, test } from 'vitest'
import { approve, override, proposed, fetchTrust } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'

test('T5 an overridden action cannot be overridden again, and trust does not change', async () => {
  const system = await governed()
  const id = await proposed(system)
  await approve(system, id)
  expect(await override(system, 'agent_wrong', { proposal_id: id })).toMatchObject({
    consecutive_overrides: 1,
  })
  const before = await fetchTrust(system)
  // Concurrent calls, as by a double click.
  const again = await Promise.all(
    ['agent_wrong', 'edge_case'].map((type) => override(system, type, { proposal_id: id })),
  )
  for (const result of again)
    expect(result).toMatchObject({
      fault: 'already_decided',
      message: expect.stringMatching(/^not found or already decided: overridden by anna at /),
      hint: expect.stringContaining('Omit proposal_id'),
    })
  expect(await fetchTrust(system)).toEqual(before)
  expect(await system.entries(['override.recorded'])).toHaveLength(1)
  expect(await override(system, 'agent_wrong')).toMatchObject({ consecutive_overrides: 2 })
})
