import { expect, test } from 'vitest'
import { actingTool } from '../../../test/acting.ts'
import { check, decide } from '../../../test/acts.ts'
import { governed } from '../../../test/governed.ts'

const hour = 60 * 60 * 1000

test('A2 P8 an approved call that was not made in time is said to be over', async () => {
  const { tool } = actingTool('mail', 'write')
  const system = await governed({}, { tools: [tool] })
  const { approval_id: id } = await system.call('mail_write', { path: 'a' })
  await decide(system, [String(id)])
  expect(await check(system, id)).toMatchObject({
    status: 'approved',
    message: 'Call mail_write again with the approved arguments: it runs once.',
  })
  system.move(hour)
  expect(await check(system, id)).toMatchObject({
    status: 'approved',
    message:
      'It was approved, but not called in time. Call mail_write again: a person is asked anew.',
  })
  const again = await system.call('mail_write', { path: 'a' })
  expect(again).toMatchObject({ fault: 'approval_required' })
  expect(again['approval_id']).not.toBe(id)
})
