import { agentNamed } from './agent-named.ts'
import { findApproval } from './approvals.ts'
import type { OverrideType, Severity } from './choices.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'

export type OverrideFlags = {
  readonly type: OverrideType
  readonly severity: Severity
  readonly description: string
  readonly action?: string
  readonly proposal?: string
}

/** Corrects an agent, also afterwards and without a proposal (T5). */
export async function override(
  context: Context,
  given: string,
  domain: string,
  { type, severity, description, action, proposal }: OverrideFlags,
): Promise<void> {
  requirePersonHere(context, 'Overriding')
  const client = createClient(context)
  const recorded = await client.call<{ message: string }>('cowork_override', {
    agent_id: await agentNamed(client, given),
    domain,
    action_description: action ?? description,
    override_type: type,
    severity,
    description,
    ...(proposal !== undefined && { proposal_id: (await findApproval(client, proposal)).id }),
  })
  context.out.data(recorded, () => [plain(recorded.message)])
}
