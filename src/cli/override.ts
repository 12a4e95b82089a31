import { agentNamed } from './agent-named.ts'
import { findApproval } from './approvals.ts'
import { overrideTypes, severities } from './choices.ts'
import { toolCommand } from './command.ts'
import { choice, required, text, withDefault } from './option-kinds.ts'

export const type = () => choice('--type <type>', 'what was wrong', overrideTypes)
export const severity = () => choice('--severity <severity>', 'how serious it is', severities)

/** Corrects an agent, also afterwards and without a proposal (T5). */
export const overrideCommand = toolCommand({
  usage: 'override <agent> <domain>',
  summary: 'correct an agent, also afterwards',
  options: {
    type: required(type()),
    severity: withDefault(severity(), 'medium'),
    description: required(text('--description <text>', 'what should have been')),
    action: text('--action <text>', 'what the agent did (default: the description)'),
    proposal: text('--proposal <id>', 'the proposal it is about'),
  },
  person: 'Overriding',
  tool: 'cowork_override',
  input: async ({ client, args: [given, domain], options }) => ({
    agent_id: await agentNamed(client, given),
    domain,
    action_description: options.action ?? options.description,
    override_type: options.type,
    severity: options.severity,
    description: options.description,
    proposal_id: options.proposal && (await findApproval(client, options.proposal)).id,
  }),
  show: ({ message }) => message,
})
