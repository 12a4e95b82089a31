import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { forAnyone, forPeople } from '#base/own-tools.ts'
import { defineTool } from '#base/tool.ts'
import { fieldsOf } from '../rules/fields.ts'
import type { Governance } from '../service.ts'
import { shownBody, shownVersion } from './policy-shapes.ts'
import { changeInput, readChange } from './propose.ts'
import { domain, who } from './words.ts'
import { policyResults } from '../wire/policies.ts'

export const validatePolicyTool = ({ proposals, db }: Governance) =>
  defineTool({
    ...forAnyone.read,
    name: 'cowork_validate_policy',
    title: 'Check against policy',
    description:
      'Check what the policy says to a change before you propose it. Nothing is stored and nothing counts.',
    input: z.object({
      agent_id: who.agent_id.describe('The agent; yourself where absent'),
      domain,
      field: z.string().max(200).optional(),
      proposed_value: z.unknown().optional().describe('The value that `field` is to have'),
      proposed_change: changeInput.optional(),
    }),
    output: policyResults.cowork_validate_policy,
    touches: (input) => ({ domain: input.domain }),
    async read(input, { caller }) {
      const named = caller.kind === 'agent' ? caller : { id: input.agent_id ?? '*' }
      const { policies, policy, isMapped } = await proposals.policyFor(db, named, input.domain)
      const { field, proposed_value: value } = input
      const change =
        input.proposed_change === undefined ? { value } : readChange(input.proposed_change)
      const evaluation = policies.evaluate(policy, fieldsOf(change, field))
      const isBlocked = evaluation.hardStop || (policies.isMapped && !isMapped)
      const [first] = evaluation.violations
      return {
        valid: !isBlocked,
        hard_stop: isBlocked,
        high_risk: evaluation.highRisk.length > 0,
        violations: [...evaluation.violations],
        policy_id: policy?.id ?? null,
        policy_description: policy?.description ?? null,
        policy_rules_checked: evaluation.rulesChecked,
        rules_matched: evaluation.rulesMatched,
        mapping_found: isMapped,
        message: isBlocked
          ? `BLOCKED: ${first ? `${first.field}: ${first.reason}` : `no policy covers ${named.id} in ${input.domain}`}`
          : evaluation.highRisk.length > 0
            ? `VALID, and a person reviews it: ${evaluation.highRisk.join(', ')} is high risk.`
            : 'VALID',
      }
    },
  })

/** Also where what is in force cannot be read: whoever is to mend it must see what there is. */
function readable(versions: Governance['versions']) {
  try {
    return { policies: versions.policies() }
  } catch (error) {
    if (!(error instanceof CoworkError)) throw error
    return { policies: versions.setOf({ policies: [], mappings: [] }), problem: error.message }
  }
}

export const listPoliciesTool = ({ versions, store, db }: Governance) =>
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_policies',
    title: 'Policies',
    description:
      'The policies in force, which agent works where under which of them, and the versions there were.',
    input: z.object({}),
    output: policyResults.cowork_list_policies,
    async read() {
      const approved = await store.mappings(db)
      const { policies, problem } = readable(versions)
      const newest = (await versions.list(20)).map(shownVersion)
      return {
        version: versions.version(),
        ...(problem !== undefined && { problem }),
        policies: policies.list.map(({ id, description, mode, rules }) => ({
          id,
          description,
          mode,
          rules: rules.length,
        })),
        mappings: [
          ...policies.mappings.map((mapping) => ({ ...mapping, source: 'config' as const })),
          ...approved.map((row) => ({
            agent_id: row.agent,
            domain: row.domain,
            policy_id: row.policy,
            source: 'approved' as const,
          })),
        ],
        active: newest[0] ?? null,
        versions: newest,
        body: shownBody({ policies: policies.list, mappings: policies.mappings }),
      }
    },
  })
