import { expect, test } from 'vitest'
import { countResults } from './tally.ts'

const file = (status: string, ...statuses: string[]) => ({
  name: 'x.test.ts',
  status,
  assertionResults: statuses.map((each, i) => ({ fullName: `test ${i}`, status: each })),
})

test('tally: counts tests by outcome and lists those not run', () => {
  const testResults = [
    file('failed', 'passed', 'failed', 'skipped'),
    file('passed', 'passed', 'todo'),
  ]
  expect(countResults({ testResults }, 1)).toEqual({
    passed: 2,
    failed: 1,
    notRun: ['test 2', 'test 1'],
    names: ['test 0', 'test 0'],
  })
})

test('tally: a file that does not load is a failure', () => {
  const testResults = [file('passed', 'passed'), file('failed'), file('failed')]
  expect(countResults({ testResults }, 1)).toMatchObject({ passed: 1, failed: 2 })
})

test('tally: a failing exit is never reported as success', () => {
  expect(countResults({ testResults: [file('passed', 'passed')] }, 1)).toMatchObject({
    passed: 1,
    failed: 1,
  })
  expect(countResults(undefined, 0)).toMatchObject({ passed: 0, failed: 1 })
})
