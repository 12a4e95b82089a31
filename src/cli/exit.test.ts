import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CoworkError } from '#base/errors.ts'
import { toExitCode, toProblem } from './exit.ts'

test.each([
  ['invalid_input', 2],
  ['config_invalid', 2],
  ['ambiguous_id', 2],
  ['not_found', 3],
  ['auth_error', 4],
  ['human_required', 4],
  ['scope_missing', 5],
  ['halted', 5],
  ['already_decided', 3],
  ['policy_blocked', 5],
  ['approval_denied', 5],
  ['approval_required', 6],
  ['approval_expired', 7],
  ['override_needed', 2],
  ['policy_changed', 7],
  ['count_differs', 7],
  ['would_lock_out', 5],
  ['TOOL_BUDGET_EXCEEDED', 5],
  ['path_traversal', 2],
  ['no_grant', 5],
  ['forbidden_path', 5],
  ['stale', 7],
  ['project_unknown', 3],
  ['duplicate_id', 2],
  ['lease_held', 5],
  ['open_stories', 5],
  ['stale_rev', 7],
  ['daemon_not_running', 8],
  ['timeout', 124],
  ['interrupted', 130],
] as const)('K3 %s ends with %i', (code, exit) => {
  expect(toExitCode(new CoworkError(code, 'x'))).toBe(exit)
})

test('K3 any other error exits with 1', () => {
  expect(toExitCode(new CoworkError('port_taken', 'x'))).toBe(1)
  fc.assert(fc.property(fc.anything(), (thrown) => toExitCode(thrown) === 1))
})

test('K3 a refusal has a message and a hint, a bug shows its stack', () => {
  const refusal = new CoworkError('halted', 'All agents are halted.', { hint: 'Resume them.' })
  expect(toProblem(refusal)).toEqual({
    code: 'halted',
    message: 'All agents are halted.',
    hint: 'Resume them.',
  })
  expect(toProblem(systemError()).message).not.toContain('at ')
  expect(toProblem(systemError())).toMatchObject({ code: 'enoent', hint: expect.any(String) })
  const full = Object.assign(new Error('database or disk is full'), { errcode: 13 })
  expect(toProblem(full)).toMatchObject({
    message: 'Disk full: database or disk is full.',
    hint: expect.stringContaining('Free disk space'),
  })
  expect(toProblem(new TypeError('oops'))).toMatchObject({
    code: 'internal',
    message: expect.stringContaining('exit.test.ts'),
  })
})

function systemError(): unknown {
  try {
    return readFileSync('/there/is/no/such/file')
  } catch (error) {
    return error
  }
}
