import { expect, test } from 'vitest'
import { createApprovalKinds } from './kinds.ts'

test('A1 a kind is registered once and found by its name', () => {
  const kind = { kind: 'plan', onDecided: () => Promise.resolve() }
  const kinds = createApprovalKinds([kind])
  expect(kinds.get('plan')).toBe(kind)
  expect(() => kinds.get('grant')).toThrow(/not registered: grant/)
  expect(() => createApprovalKinds([kind, kind])).toThrow(/registered twice/)
})
