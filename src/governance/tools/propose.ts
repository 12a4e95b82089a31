import * as z from 'zod'
import { canonicalJson } from '#base/hash.ts'
import { checkJsonSize } from '#base/json-size.ts'
import { sanitizeText } from '#base/sanitize.ts'
import { forAgents } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Governance } from '../service.ts'
import {
  action,
  approvalId,
  domain,
  target,
  boundedText,
  agentFields,
  longText,
} from './shared-schemas.ts'
import { proposalResults } from '../wire/proposals.ts'

/** Anything may stand in a change; what is no JSON is kept as it came (P3). */
export function parseChange(given: unknown): unknown {
  if (typeof given !== 'string') return given
  // JSON inside a string has the limits of JSON that is a body (RS4).
  if (/^\s*[[{]/.test(given)) checkJsonSize(Buffer.from(given))
  try {
    const parsed: unknown = JSON.parse(given)
    return typeof parsed === 'object' && parsed !== null ? parsed : { raw: parsed }
  } catch {
    return { raw: given }
  }
}

export const changeInput = z
  .union([z.string().max(1_000_000), z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .describe('What is to change, as JSON')

const mostCriteria = 50

/** Reasons that can be checked, not only read (R1). */
export const reasoningInput = z
  .strictObject({
    type: boundedText(128).optional(),
    criteria: z
      .record(
        boundedText(128),
        z.strictObject({
          value: z.unknown().optional(),
          source: boundedText(1000)
            .optional()
            .describe('ledger:<seq>, mcp:<server>/<tool>#<call> or file:<path>#<sha256>'),
          timestamp: z
            .union([boundedText(64), z.number()])
            .optional()
            .describe('When it was so: RFC 3339, or milliseconds'),
        }),
      )
      .refine((criteria) => Object.keys(criteria).length <= mostCriteria, {
        error: `at most ${mostCriteria} criteria`,
      }),
  })
  .refine(isPlain, { error: 'must be plain JSON of at most 64 KB' })
export type Reasoning = z.output<typeof reasoningInput>

function isPlain(given: unknown): boolean {
  try {
    return canonicalJson(given).length <= 64 * 1024
  } catch {
    return false
  }
}

/** The facts that the message leaves out, for clients that show the text alone. */
function factsOf(reply: z.output<typeof proposalResults.cowork_propose>): string {
  const listed = (name: string, list: readonly string[] = []) =>
    list.length > 0 ? [`${name}: ${list.join(', ')}`] : []
  const facts = [
    `proposal_id ${reply.proposal_id}`,
    `mode ${reply.mode}`,
    `status ${reply.status}`,
    `trust ${reply.trust_level}`,
    ...(reply.policy_id === null ? [] : [`policy ${reply.policy_id}`]),
    ...(reply.policy_warnings > 0 ? [`${reply.policy_warnings} policy warnings`] : []),
    ...(reply.volume_remaining === null ? [] : [`${reply.volume_remaining} proposals left`]),
    ...listed('missing criteria', reply.missing_criteria),
    ...listed('stale criteria', reply.stale_criteria),
    ...listed('unverified sources', reply.unverified_sources),
    ...listed('problems', reply.reasoning_problems),
  ]
  return `[${sanitizeText(facts.join('; '))}]`
}

export const proposeTool = ({ proposals }: Governance) =>
  defineTool({
    ...forAgents.write,
    name: 'cowork_propose',
    title: 'Propose',
    description:
      'Say what you want to do outside of cowork before you do it. Answers act (do it now), suggest or escalate (a person decides: ask cowork_check_approval, then do exactly what was approved).',
    core: true,
    additive: true,
    input: z.object({
      ...agentFields,
      domain,
      action,
      target,
      proposed_change: changeInput,
      confidence: z.number().min(0).max(1).describe('How sure you are, 0 to 1'),
      reasoning: longText.describe('For the person who decides'),
      field: boundedText(200).optional().describe('If it is about one field'),
      reasoning_schema: reasoningInput
        .optional()
        .describe('Reasons that can be checked, if a policy asks'),
      handoff_id: approvalId.optional().describe('Handoff whose instructions you follow'),
      idempotency_key: boundedText(200)
        .min(1)
        .optional()
        .describe('The same key gives the same proposal'),
    }),
    output: proposalResults.cowork_propose,
    text: (output) =>
      [
        output.message,
        output.next,
        output.review_url && `A person decides at ${output.review_url}`,
        output.evidence_note && `(${output.evidence_note})`,
        factsOf(output),
      ]
        .filter(Boolean)
        .join(' '),
    describeTarget: (input) => ({ domain: input.domain, target: input.target }),
    transact: (tx, input, call) =>
      proposals.propose(
        tx,
        {
          domain: input.domain,
          action: input.action,
          target: input.target,
          change: parseChange(input.proposed_change),
          confidence: input.confidence,
          reasoning: input.reasoning,
          field: input.field,
          key: input.idempotency_key,
          handoff: input.handoff_id,
          criteria: input.reasoning_schema,
        },
        call,
      ),
  })
