import { decisionResults } from './wire/decisions.ts'
import { handoffResults } from './wire/handoffs.ts'
import { policyResults } from './wire/policies.ts'
import { proposalResults } from './wire/proposals.ts'
import { reportResults } from './wire/report.ts'
import { trustResults } from './wire/trust.ts'

export { inboxAnswers } from './wire/inbox.ts'

export const governanceResults = {
  ...proposalResults,
  ...decisionResults,
  ...trustResults,
  ...handoffResults,
  ...policyResults,
  ...reportResults,
}
