import * as z from 'zod'
import { CoworkError } from '#base/errors.ts'
import { forAnyone, forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { extractFields } from '../rules/fields.ts'
import type { Governance } from '../service.ts'
import { changeInput, parseChange, reasoningInput } from './propose.ts'
import { domain, agentFields, boundedText, agentId } from './shared-schemas.ts'
import { policyResults, policyRow } from '../wire/policies.ts'
import { formatRfc3339 } from '#base/clock.ts'
import type { PolicyDocument } from '../policies/policy-document.ts'
import type { Version } from '../policies/versions.ts'
import { effort } from '#base/soft-limit.ts'
import { unifiedDiff } from '#base/unified-diff.ts'
import { formatPolicyYaml } from '../policies/policy-document.ts'
import { unknownVersionError } from '../policies/simulation.ts'
import type { Simulation } from '../policies/simulation.ts'
import { formatReplaySummary } from '../policies/replay.ts'

/** What the tools of policies take and give alike. */

const toVersionResult = ({ version, number, source, by, note, at }: Version) => ({
  version,
  number,
  source: source === 'saved' ? ('saved' as const) : ('file' as const),
  by,
  note,
  at: formatRfc3339(at),
})

const toDocumentResult = ({ policies, mappings }: PolicyDocument) => ({
  policies: policies.map((policy) => ({ ...policy })),
  mappings: mappings.map((mapping) => ({ ...mapping })),
})

/** What a person wrote is judged by the words of cowork.yaml, not by a schema of its own. */
const documentInput = z
  .union([z.string().max(1_000_000), policyRow])
  .describe('The sections policies and mappings as in cowork.yaml: YAML as text, or their values')

const versionName = boundedText(64).min(1)

/** Also where what is in force cannot be read: whoever is to mend it must see what there is. */
function readable(versions: Governance['versions']) {
  try {
    return { policies: versions.policies() }
  } catch (error) {
    if (!(error instanceof CoworkError)) throw error
    return { policies: versions.setOf({ policies: [], mappings: [] }), problem: error.message }
  }
}

const wouldLockOut = (agents: readonly { agent_id: string }[]) => {
  const names = agents.slice(0, 5).map(({ agent_id }) => agent_id)
  const more = agents.length > names.length ? ` and ${agents.length - names.length} more` : ''
  return new CoworkError(
    'would_lock_out',
    `Under these policies ${names.join(', ')}${more} could propose nothing of what they proposed in the last 30 days.`,
    {
      hint: 'Map them to a policy, or save with confirm: true if that is what you want.',
      details: { agents: agents.slice(0, 100) },
    },
  )
}

async function sideOf(
  { versions }: Pick<Governance, 'versions'>,
  name: string,
): Promise<{ name: string; body: PolicyDocument }> {
  const found = await versions.find(name === 'active' ? undefined : name)
  if (!found?.body) throw unknownVersionError(name)
  return { name: found.version.version, body: found.body }
}

const tooMuch = (message: string) =>
  new CoworkError('invalid_input', message, { hint: 'Leave the others out.' })

export const policyTools = (
  { proposals, versions, store, db }: Governance,
  simulation: Simulation,
): Tool[] => [
  defineTool({
    ...forAnyone.read,
    name: 'cowork_validate_policy',
    title: 'Check against policy',
    description:
      'Check what the policy says to a change before you propose it. Nothing is stored and nothing counts.',
    input: z.object({
      agent_id: agentFields.agent_id.describe('The agent; yourself where absent'),
      domain,
      field: z.string().max(200).optional(),
      proposed_value: z.unknown().optional().describe('The value that `field` is to have'),
      proposed_change: changeInput.optional(),
    }),
    output: policyResults.cowork_validate_policy,
    describeTarget: (input) => ({ domain: input.domain }),
    async read(input, { caller }) {
      const named = caller.kind === 'agent' ? caller : { id: input.agent_id ?? '*' }
      const { policies, policy, isMapped } = await proposals.policyFor(db, named, input.domain)
      const { field, proposed_value: value } = input
      const change =
        input.proposed_change === undefined ? { value } : parseChange(input.proposed_change)
      const evaluation = policies.evaluate(policy, extractFields(change, field))
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
  }),
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
      const newest = (await versions.list(20)).map(toVersionResult)
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
        body: toDocumentResult({ policies: policies.list, mappings: policies.mappings }),
      }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_simulate_policy',
    title: 'Simulate policies',
    description:
      'What other policies would do: to one proposal, or to all that agents proposed and called in the last days, judged again with the trust of that time. Changes nothing.',
    input: z.object({
      body: documentInput
        .optional()
        .describe('The policies to try, as cowork_save_policies takes them'),
      version: versionName.optional().describe('Or a version there was'),
      policy_id: boundedText(128)
        .optional()
        .describe('Or a policy in force, as if it were mapped everywhere'),
      proposal: z
        .object({
          agent_id: agentId,
          domain,
          proposed_change: changeInput,
          field: boundedText(200).optional(),
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
          change: parseChange(proposal.proposed_change),
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
      const summary = formatReplaySummary(found)
      return { ...named, summary, table, days, replayed, unchanged, skipped, truncated }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_save_policies',
    title: 'Save policies',
    description:
      'Puts a new version of the policies in force, from the next proposal and call on, in every daemon. The versions before stay.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      body: documentInput,
      note: boundedText(1000).default('').describe('Why, for whoever reads the history'),
      from: versionName
        .optional()
        .describe('The version it was made of: refused when another was saved meanwhile'),
      confirm: z
        .boolean()
        .default(false)
        .describe('Save it although agents that worked lately could propose nothing any more'),
    }),
    output: policyResults.cowork_save_policies,
    // The store is changed in a transaction of its own: what is in force changes after it, and only then.
    async run({ body, note, from, confirm }, call) {
      const read = simulation.read(body)
      const lost = confirm ? [] : await simulation.lockedOut(read)
      if (lost.length > 0) throw wouldLockOut(lost)
      const saved = await versions.save(read, { note, from }, call)
      const { version, number } = saved.version
      const output = {
        version,
        number,
        from: saved.from,
        changed: saved.isNew,
        message: saved.isNew
          ? `Version ${version} is in force.`
          : `Version ${version} says the same already.`,
      }
      return { output }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_versions',
    title: 'Versions of the policies',
    description: 'The policies there ever were, newest first; and what one of them says.',
    input: z.object({
      version: versionName.optional().describe('Show what this one says'),
      limit: effort(z.int().min(1).max(200)).default(50),
    }),
    output: policyResults.cowork_policy_versions,
    async read({ version, limit }) {
      const listed = (await versions.list(limit)).map(toVersionResult)
      const answer = { active: versions.version(), versions: listed }
      if (version === undefined) return answer
      const found = await versions.find(version)
      if (!found?.body) throw unknownVersionError(version)
      const { body } = found
      return { ...answer, body: toDocumentResult(body), text: formatPolicyYaml(body) }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_diff',
    title: 'Compare policies',
    description: 'What differs between two versions of the policies, or from what you wrote.',
    input: z.object({
      from: versionName.describe('A version, or `active`'),
      to: versionName.optional().describe('A version, or `active`; absent where `body` is given'),
      body: documentInput.optional(),
    }),
    output: policyResults.cowork_policy_diff,
    async read({ from, to, body }) {
      if ((to === undefined) === (body === undefined))
        throw new CoworkError('invalid_input', 'Compare with `to` or with `body`, one of them.', {
          hint: 'Give the version it is compared with, or what you wrote.',
        })
      const old = await sideOf({ versions }, from)
      const young =
        to === undefined
          ? { name: 'written', body: simulation.read(body) }
          : await sideOf({ versions }, to)
      const diff = unifiedDiff(
        { name: old.name, text: formatPolicyYaml(old.body) },
        { name: young.name, text: formatPolicyYaml(young.body) },
      )
      return { from: old.name, to: young.name, changed: diff !== '', diff }
    },
  }),
]
