import { readDetail, readItems } from '../approvals.ts'
import type { Client } from '../client.ts'

/** What came of the checks of one agent. */
export type Checked = { checked: number; found: number }

const mostChecks = 50

/**
 * Answers what waits of the checks of an agent, as a person would who knows what was right: opens each, confirms it
 * or marks it as wrong. A mistake brings a look-back, which is answered like the rest (T14).
 */
export async function answerChecks(
  reviewer: Client,
  agent: string,
  isRight: ReadonlyMap<string, boolean>,
  checked: Checked,
): Promise<void> {
  const wanted = { status: 'pending', kind: 'spot_check', agent } as const
  const { items } = await readItems(reviewer, wanted, mostChecks)
  for (const { id } of items) {
    const { check } = await readDetail(reviewer, id)
    const right = isRight.get(check?.proposal ?? '')
    if (right === undefined) continue
    await reviewer.call('cowork_decide', { approval_ids: [id], ...(right ? confirmed : wrong) })
    checked.checked++
    if (!right) checked.found++
  }
}

const confirmed = { decision: 'approve' }
const wrong = {
  decision: 'reject',
  override: { type: 'agent_wrong', description: 'This was not what the customer asked for.' },
}
