import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '#ledger'
import { trailOf } from './trail.ts'

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

test('G2 a whole chain is in order and complete', () => {
  const trail = trailOf(entries('propose', 'other', 'approve', 'execute', 'verify'))
  expect(trail).toMatchObject({ inOrder: true, missing: [] })
  expect(trail.chain.map((link) => link.step)).toEqual(['propose', 'approve', 'execute', 'verify'])
})

test('G2 a chain under way is in order, with steps missing', () => {
  expect(trailOf(entries('propose'))).toMatchObject({
    inOrder: true,
    missing: ['approve', 'execute', 'verify'],
  })
  expect(trailOf([])).toMatchObject({ inOrder: true, chain: [] })
})

test('G2 execution before or without approval is out of order', () => {
  expect(trailOf(entries('propose', 'execute', 'approve')).inOrder).toBe(false)
  expect(trailOf(entries('propose', 'execute')).inOrder).toBe(false)
  expect(trailOf(entries('execute')).inOrder).toBe(false)
})

test('G2 a step done again keeps the order that was', () => {
  expect(trailOf(entries('propose', 'approve', 'execute', 'verify', 'execute')).inOrder).toBe(true)
})

test('G2 what was done to another target or by another action is no execution of it', () => {
  const [asked, allowed, done] = entries('propose', 'approve', 'execute')
  if (!asked || !allowed || !done) throw new Error('there are three')
  const act = (action: string, target: string): Entry[] => [
    { ...asked, subject: 'deal-1', data: { action: 'update_deal' } },
    allowed,
    { ...done, subject: target, data: { phase: 'execute', action } },
  ]
  expect(trailOf(act('update_deal', 'deal-1'))).toMatchObject({
    inOrder: true,
    missing: ['verify'],
  })
  for (const other of [act('delete_deal', 'deal-1'), act('update_deal', 'deal-2')]) {
    const { chain, missing, inOrder } = trailOf(other)
    expect(chain.map(({ step }) => step)).toEqual(['propose', 'approve', 'something_else'])
    expect(missing).toEqual(['execute', 'verify'])
    expect(inOrder).toBe(false)
  }
})

test('G2 nothing in order lacks an earlier step', () => {
  const step = fc.constantFrom('propose', 'approve', 'execute', 'verify', 'other')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const { chain, inOrder } = trailOf(entries(...steps))
      const has = (name: string) => chain.some((link) => link.step === name)
      const isGrounded = has('approve') && has('propose')
      expect(!inOrder || !has('execute') || isGrounded).toBe(true)
    }),
  )
})
