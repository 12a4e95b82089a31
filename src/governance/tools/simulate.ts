import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { forPeople } from '#base/own-tools.ts'
import { defineTool } from '#base/tool.ts'
import { summaryOf } from '../policies/replay.ts'
import type { Simulation } from '../policies/simulation.ts'
import { bodyInput, versionName } from './policy-shapes.ts'
import { changeInput, readChange, reasoningInput } from './propose.ts'
import { agentId, domain, text } from './words.ts'
import { policyResults } from '../wire/policies.ts'

export const simulatePolicyTool = (simulation: Simulation) =>
  defineTool({
    ...forPeople.read,
    name: 'cowork_simulate_policy',
    title: 'Simulate policies',
    description:
      'What other policies would do: to one proposal, or to all that agents proposed and called in the last days, judged again with the trust of that time. Changes nothing.',
    input: z.object({
      body: bodyInput
        .optional()
        .describe('The policies to try, as cowork_save_policies takes them'),
      version: versionName.optional().describe('Or a version there was'),
      policy_id: text(128)
        .optional()
        .describe('Or a policy in force, as if it were mapped everywhere'),
      proposal: z
        .object({
          agent_id: agentId,
          domain,
          proposed_change: changeInput,
          field: text(200).optional(),
          trust_level: z
            .number()
            .min(0)
            .max(1)
            .optional()
            .describe('As if trust were this; what it is now where absent'),
          reasoning_schema: reasoningInput.optional(),
        })
        .optional()
        .describe('One proposal instead of those on record'),
      days: z.int().min(1).max(365).optional().describe('How far back; 30 by default'),
      agent_id: agentId.optional().describe('Of this agent only'),
      domain: domain.optional().describe('In this domain only'),
    }),
    output: policyResults.cowork_simulate_policy,
    async read(input) {
      const { body, version, policy_id: policyId, proposal } = input
      if ([body, version, policyId].filter((it) => it !== undefined).length > 1)
        throw tooMuch('Try `body`, `version` or `policy_id`, one of them.')
      if (proposal && input.days !== undefined)
        throw tooMuch('Simulate one `proposal` or so many `days`, not both.')
      const candidate = await simulation.tried({ body, version, policyId })
      const named = { version: candidate.policies.version }
      if (proposal) {
        const { before, after } = await simulation.compared(candidate, {
          agent: proposal.agent_id,
          domain: proposal.domain,
          change: readChange(proposal.proposed_change),
          field: proposal.field,
          trustLevel: proposal.trust_level,
          reasoning: proposal.reasoning_schema,
        })
        const summary =
          before.mode === after.mode ? `${after.mode}, as now` : `${before.mode}→${after.mode}`
        return { ...named, summary, before, after }
      }
      const { days = 30, agent_id: agent } = input
      const found = await simulation.replayed(candidate, { days, agent, domain: input.domain })
      const { replayed, unchanged, skipped, truncated } = found
      const table = await Promise.all(
        found.changes.map(async ({ from, to, count, examples }) => ({
          from,
          to,
          count,
          examples: await Promise.all(
            examples.map(async (example) => ({
              seq: await simulation.seqOf(example),
              approval_id: example.approval ?? null,
              kind: example.kind,
              agent_id: example.agent,
              domain: example.domain,
              action: example.action,
            })),
          ),
        })),
      )
      const summary = summaryOf(found)
      return { ...named, summary, table, days, replayed, unchanged, skipped, truncated }
    },
  })

const tooMuch = (message: string) =>
  new CoworkError('invalid_input', message, { hint: 'Leave the others out.' })
