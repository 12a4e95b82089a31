import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '#ledger'
import { buildAuditTrail } from './audit-trail.ts'

const kinds = {
  propose: { type: 'proposal.created' },
  approve: { type: 'approval.approved' },
  execute: { type: 'action.logged', data: { phase: 'execute' } },
  verify: { type: 'action.logged', data: { phase: 'verify' } },
  other: { type: 'call.done' },
}

const entries = (...steps: (keyof typeof kinds)[]): Entry[] =>
  steps.map((step, i) => ({
    v: 1,
    seq: i + 1,
    at: i,
    prev: '',
    actor: { kind: 'agent', id: 'sales' },
    ...kinds[step],
  }))

test('G2 a full chain is in order and complete', () => {
  const trail = buildAuditTrail(entries('propose', 'other', 'approve', 'execute', 'verify'))
  expect(trail).toMatchObject({ isInOrder: true, missing: [] })
  expect(trail.chain.map((link) => link.step)).toEqual(['propose', 'approve', 'execute', 'verify'])
})

test('G2 an unfinished chain is in order, with missing steps', () => {
  expect(buildAuditTrail(entries('propose'))).toMatchObject({
    isInOrder: true,
    missing: ['approve', 'execute', 'verify'],
  })
  expect(buildAuditTrail([])).toMatchObject({ isInOrder: true, chain: [] })
})

test('G2 execution before or without approval is out of order', () => {
  expect(buildAuditTrail(entries('propose', 'execute', 'approve')).isInOrder).toBe(false)
  expect(buildAuditTrail(entries('propose', 'execute')).isInOrder).toBe(false)
  expect(buildAuditTrail(entries('execute')).isInOrder).toBe(false)
})

test('G2 a repeated step keeps the order', () => {
  expect(
    buildAuditTrail(entries('propose', 'approve', 'execute', 'verify', 'execute')).isInOrder,
  ).toBe(true)
})

test('G2 an action with another target or name does not execute the proposal', () => {
  const [asked, allowed, done] = entries('propose', 'approve', 'execute')
  if (!asked || !allowed || !done) throw new Error('there are three')
  const act = (action: string, target: string): Entry[] => [
    { ...asked, subject: 'deal-1', data: { action: 'update_deal' } },
    allowed,
    { ...done, subject: target, data: { phase: 'execute', action } },
  ]
  expect(buildAuditTrail(act('update_deal', 'deal-1'))).toMatchObject({
    isInOrder: true,
    missing: ['verify'],
  })
  for (const other of [act('delete_deal', 'deal-1'), act('update_deal', 'deal-2')]) {
    const { chain, missing, isInOrder } = buildAuditTrail(other)
    expect(chain.map(({ step }) => step)).toEqual(['propose', 'approve', 'something_else'])
    expect(missing).toEqual(['execute', 'verify'])
    expect(isInOrder).toBe(false)
  }
})

test('G2 a chain in order has every earlier step', () => {
  const step = fc.constantFrom('propose', 'approve', 'execute', 'verify', 'other')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const { chain, isInOrder } = buildAuditTrail(entries(...steps))
      const has = (name: string) => chain.some((link) => link.step === name)
      const isGrounded = has('approve') && has('propose')
      expect(!isInOrder || !has('execute') || isGrounded).toBe(true)
    }),
  )
})
