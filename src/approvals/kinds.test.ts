import { expect, test } from 'vitest'
import { createApprovalKinds } from './kinds.ts'

test('A1 a kind is registered once and found by its name', () => {
  const kinds = createApprovalKinds()
  const kind = { kind: 'plan', describe: () => 'a plan', onDecided: () => Promise.resolve() }
  kinds.register(kind)
  expect(kinds.find('plan')).toBe(kind)
  expect(kinds.find('grant')).toBeUndefined()
  expect(() => kinds.register(kind)).toThrow(/two domains register/)
})
