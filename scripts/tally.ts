// Reads vitest's JSON report: passed, failed and not run tests.
export type VitestReport = {
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}
export type Tally = {
  passed: number
  failed: number
  notRun: string[]
  /** The full names of the tests that passed. */
  names: string[]
}

/** A missing report, or a failing exit without a failed test (such as an unhandled error), counts as one failure. */
export function countResults(report: VitestReport | undefined, exitCode: number): Tally {
  const tally: Tally = { passed: 0, failed: 0, notRun: [], names: [] }
  for (const { status, assertionResults } of report?.testResults ?? []) {
    const before = tally.failed
    for (const test of assertionResults) {
      if (test.status === 'passed') {
        tally.passed++
        tally.names.push(test.fullName)
      } else if (test.status === 'failed') tally.failed++
      else tally.notRun.push(test.fullName)
    }
    // A file that does not load fails without a failed test.
    if (status === 'failed' && tally.failed === before) tally.failed++
  }
  if (tally.failed === 0 && (!report || exitCode !== 0)) tally.failed = 1
  return tally
}
