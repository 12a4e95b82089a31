import { expect, test } from 'vitest'
import { tallyOf } from './tally.ts'

const file = (status: string, ...statuses: string[]) => ({
  name: 'x.test.ts',
  status,
  assertionResults: statuses.map((each, i) => ({ fullName: `test ${i}`, status: each })),
})

test('tally: tests are counted by outcome and those left out are named', () => {
  const testResults = [
    file('failed', 'passed', 'failed', 'skipped'),
    file('passed', 'passed', 'todo'),
  ]
  expect(tallyOf({ testResults }, 1)).toEqual({
    passed: 2,
    failed: 1,
    notRun: ['test 2', 'test 1'],
    names: ['test 0', 'test 0'],
  })
})

test('tally: a file that does not load is a failure', () => {
  const testResults = [file('passed', 'passed'), file('failed'), file('failed')]
  expect(tallyOf({ testResults }, 1)).toMatchObject({ passed: 1, failed: 2 })
})

test('tally: a failing exit is never reported as all passed', () => {
  expect(tallyOf({ testResults: [file('passed', 'passed')] }, 1)).toMatchObject({
    passed: 1,
    failed: 1,
  })
  expect(tallyOf(undefined, 0)).toMatchObject({ passed: 0, failed: 1 })
})
