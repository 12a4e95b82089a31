import { expect, test } from 'vitest'
import { findRouteMismatch, findToolMismatch } from './check.ts'

const halted = { scope: 'all', reason: '', by: 'owner', at: '2026-02-01T10:30:00Z' }

test('architecture: a valid response has no mismatch, also with unknown fields', () => {
  expect(findToolMismatch('cowork_halt', halted)).toBeUndefined()
  expect(findToolMismatch('cowork_halt', { ...halted, later: 1 })).toBeUndefined()
  const page = { size: 0, entries: [] }
  expect(findRouteMismatch('GET', '/api/ledger', page)).toBeUndefined()
})

test('architecture: an unknown field of a strict schema is allowed', () => {
  const receipt = { receipt: 1, call: 'c', vkey: 'v', checkpoint: 'n', entries: [], later: 1 }
  expect(findRouteMismatch('GET', '/api/ledger/receipts/c', receipt)).toBeUndefined()
})

test('architecture: a mismatch names the field', () => {
  const { by: _, ...without } = halted
  expect(findToolMismatch('cowork_halt', without)).toMatch(/^by: /)
  const outcomes = [{ id: 'a', status: 'maybe' }]
  expect(findToolMismatch('cowork_decide', { outcomes, count: 1, errors: 0 })).toMatch(
    /^outcomes\.0\.status: /,
  )
  expect(findToolMismatch('cowork_halt', null)).toMatch(/^answer: /)
})

test('architecture: the schema of a response is found by its path, a fixed path first', () => {
  const checkpoints = { vkey: 'v', checkpoints: [] }
  expect(findRouteMismatch('GET', '/api/ledger/checkpoints', checkpoints)).toBeUndefined()
  expect(findRouteMismatch('GET', '/api/ledger/7', checkpoints)).toMatch(/^entry: /)
  expect(findRouteMismatch('GET', '/api/approvals/a%2Fb', {})).toMatch(/^id: /)
})

test('architecture: a response without a schema is not checked', () => {
  expect(findToolMismatch('of_another_server', 1)).toBeUndefined()
  expect(findToolMismatch('constructor', 1)).toBeUndefined()
  expect(findRouteMismatch('GET', '/api/unknown', 1)).toBeUndefined()
})
