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

/** Input of people is validated by the cowork.yaml schema, not by a separate one. */
const documentInput = z
  .union([z.string().max(1_000_000), policyRow])
  .describe('Sections policies and mappings as in cowork.yaml: YAML text or values')

const versionName = boundedText(64).min(1)

/** Returns no policies and the error if the active version is unreadable: a person must be able to view and fix it. */
function readActivePolicies(versions: Governance['versions']) {
  try {
    return { policies: versions.policies() }
  } catch (error) {
    if (!(error instanceof CoworkError)) throw error
    return {
      policies: versions.buildPolicies({ policies: [], mappings: [] }),
      problem: error.message,
    }
  }
}

const lockOutError = (agents: readonly { agent_id: string }[]) => {
  const names = agents.slice(0, 5).map(({ agent_id }) => agent_id)
  const more = agents.length > names.length ? ` and ${agents.length - names.length} more` : ''
  return new CoworkError(
    'would_lock_out',
    `These policies block everything that ${names.join(', ')}${more} proposed in the last 30 days.`,
    {
      hint: 'Map these agents to a policy, or save with confirm: true.',
      details: { agents: agents.slice(0, 100) },
    },
  )
}

async function loadVersion(
  { versions }: Pick<Governance, 'versions'>,
  name: string,
): Promise<{ name: string; body: PolicyDocument }> {
  const stored = await versions.find(name === 'active' ? undefined : name)
  if (!stored?.body) throw unknownVersionError(name)
  return { name: stored.version.version, body: stored.body }
}

const exclusiveInputsError = (message: string) =>
  new CoworkError('invalid_input', message, { hint: 'Omit the others.' })

export const policyTools = (
  { proposals, versions, store, db }: Governance,
  simulation: Simulation,
): Tool[] => [
  defineTool({
    ...forAnyone.read,
    name: 'cowork_validate_policy',
    title: 'Check against policy',
    description:
      'Check a change against the policy before you propose it. Nothing is stored or counted.',
    input: z.object({
      agent_id: agentFields.agent_id.describe('Agent; default: yourself'),
      domain,
      field: z.string().max(200).optional(),
      proposed_value: z.unknown().optional().describe('New value of `field`'),
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
            ? `VALID, but a person reviews it: ${evaluation.highRisk.join(', ')} is high risk.`
            : 'VALID',
      }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_policies',
    title: 'Policies',
    description:
      'List the active policies, their mappings to agents and domains, and the policy versions.',
    input: z.object({}),
    output: policyResults.cowork_list_policies,
    async read() {
      const approved = await store.mappings(db)
      const { policies, problem } = readActivePolicies(versions)
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
      'Simulate other policies on one proposal, or on all proposals and calls of the last days with the trust of that time. Changes nothing.',
    input: z.object({
      body: documentInput.optional().describe('Policies to simulate, as in cowork_save_policies'),
      version: versionName.optional().describe('Or an earlier version'),
      policy_id: boundedText(128)
        .optional()
        .describe('Or an active policy, as if mapped everywhere'),
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
            .describe('Hypothetical trust; default: current trust'),
          reasoning_schema: reasoningInput.optional(),
        })
        .optional()
        .describe('One proposal instead of the recorded ones'),
      days: z.int().min(1).max(365).optional().describe('Days to replay; default 30'),
      agent_id: agentId.optional().describe('Only this agent'),
      domain: domain.optional().describe('Only this domain'),
    }),
    output: policyResults.cowork_simulate_policy,
    async read(input) {
      const { body, version, policy_id: policyId, proposal } = input
      if ([body, version, policyId].filter((value) => value !== undefined).length > 1)
        throw exclusiveInputsError('Set only one of `body`, `version` and `policy_id`.')
      if (proposal && input.days !== undefined)
        throw exclusiveInputsError('Set `proposal` or `days`, not both.')
      const candidate = await simulation.resolveCandidate({ body, version, policyId })
      const named = { version: candidate.policies.version }
      if (proposal) {
        const { before, after } = await simulation.compare(candidate, {
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
      const result = await simulation.replayHistory(candidate, {
        days,
        agent,
        domain: input.domain,
      })
      const { replayed, unchanged, skipped, truncated } = result
      const table = await Promise.all(
        result.changes.map(async ({ from, to, count, examples }) => ({
          from,
          to,
          count,
          examples: await Promise.all(
            examples.map(async (example) => ({
              seq: await simulation.findSeq(example),
              approval_id: example.approval ?? null,
              kind: example.kind,
              agent_id: example.agent,
              domain: example.domain,
              action: example.action,
            })),
          ),
        })),
      )
      const summary = formatReplaySummary(result)
      return { ...named, summary, table, days, replayed, unchanged, skipped, truncated }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_save_policies',
    title: 'Save policies',
    description:
      'Save and activate a new policy version for all later proposals and calls, in every daemon. Earlier versions stay.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      body: documentInput,
      note: boundedText(1000).default('').describe('Reason, shown in the history'),
      from: versionName.optional().describe('Base version: refused if another was saved since'),
      confirm: z
        .boolean()
        .default(false)
        .describe('Save although recently active agents are blocked'),
    }),
    output: policyResults.cowork_save_policies,
    // Saves in its own transaction: the version becomes active after the commit, and only then.
    async run({ body, note, from, confirm }, call) {
      const document = simulation.parse(body)
      const lockedOut = confirm ? [] : await simulation.findLockedOut(document)
      if (lockedOut.length > 0) throw lockOutError(lockedOut)
      const saved = await versions.save(document, { note, from }, call)
      const { version, number } = saved.version
      const output = {
        version,
        number,
        from: saved.from,
        changed: saved.isNew,
        message: saved.isNew
          ? `Version ${version} is active.`
          : `Version ${version} already has this content.`,
      }
      return { output }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_versions',
    title: 'Policy versions',
    description: 'List the policy versions, newest first, or show the content of one.',
    input: z.object({
      version: versionName.optional().describe('Show the content of this version'),
      limit: effort(z.int().min(1).max(200)).default(50),
    }),
    output: policyResults.cowork_policy_versions,
    async read({ version, limit }) {
      const listed = (await versions.list(limit)).map(toVersionResult)
      const answer = { active: versions.version(), versions: listed }
      if (version === undefined) return answer
      const stored = await versions.find(version)
      if (!stored?.body) throw unknownVersionError(version)
      const { body } = stored
      return { ...answer, body: toDocumentResult(body), text: formatPolicyYaml(body) }
    },
  }),
  defineTool({
    ...forPeople.read,
    name: 'cowork_policy_diff',
    title: 'Compare policies',
    description: 'Compare two policy versions, or a version with a draft.',
    input: z.object({
      from: versionName.describe('Version, or `active`'),
      to: versionName.optional().describe('Version, or `active`; omit with `body`'),
      body: documentInput.optional(),
    }),
    output: policyResults.cowork_policy_diff,
    async read({ from, to, body }) {
      if ((to === undefined) === (body === undefined))
        throw new CoworkError('invalid_input', 'Exactly one of `to` and `body` is required.', {
          hint: 'Set the version or the draft to compare with.',
        })
      const before = await loadVersion({ versions }, from)
      const after =
        to === undefined
          ? { name: 'written', body: simulation.parse(body) }
          : await loadVersion({ versions }, to)
      const diff = unifiedDiff(
        { name: before.name, text: formatPolicyYaml(before.body) },
        { name: after.name, text: formatPolicyYaml(after.body) },
      )
      return { from: before.name, to: after.name, changed: diff !== '', diff }
    },
  }),
]
