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

/** Accepts any change; text that is not JSON becomes `{ raw }` (P3). */
export function parseChange(input: unknown): unknown {
  if (typeof input !== 'string') return input
  // JSON inside a string has the same limits as a JSON body (RS4).
  if (/^\s*[[{]/.test(input)) checkJsonSize(Buffer.from(input))
  try {
    const parsed: unknown = JSON.parse(input)
    return typeof parsed === 'object' && parsed !== null ? parsed : { raw: parsed }
  } catch {
    return { raw: input }
  }
}

export const changeInput = z
  .union([z.string().max(1_000_000), z.record(z.string(), z.unknown()), z.array(z.unknown())])
  .describe('Proposed change, as JSON')

const maxCriteria = 50

/** Reasons that cowork can verify (R1). */
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
            .describe('Time of the value: RFC 3339 or milliseconds'),
        }),
      )
      .refine((criteria) => Object.keys(criteria).length <= maxCriteria, {
        error: `at most ${maxCriteria} criteria`,
      }),
  })
  .refine(isSmallJson, { error: 'must be plain JSON of at most 64 KB' })
export type Reasoning = z.output<typeof reasoningInput>

function isSmallJson(value: unknown): boolean {
  try {
    return canonicalJson(value).length <= 64 * 1024
  } catch {
    return false
  }
}

/** Formats the facts that the message omits, for clients that show only text. */
function formatFacts(reply: z.output<typeof proposalResults.cowork_propose>): string {
  const formatList = (name: string, list: readonly string[] = []) =>
    list.length > 0 ? [`${name}: ${list.join(', ')}`] : []
  const facts = [
    `proposal_id ${reply.proposal_id}`,
    `mode ${reply.mode}`,
    `status ${reply.status}`,
    `trust ${reply.trust_level}`,
    ...(reply.policy_id === null ? [] : [`policy ${reply.policy_id}`]),
    ...(reply.policy_warnings > 0 ? [`${reply.policy_warnings} policy warnings`] : []),
    ...(reply.volume_remaining === null ? [] : [`${reply.volume_remaining} proposals left`]),
    ...formatList('missing criteria', reply.missing_criteria),
    ...formatList('stale criteria', reply.stale_criteria),
    ...formatList('unverified sources', reply.unverified_sources),
    ...formatList('problems', reply.reasoning_problems),
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
      field: boundedText(200).optional().describe('If only one field changes'),
      reasoning_schema: reasoningInput
        .optional()
        .describe('Verifiable reasons, if a policy requires them'),
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
        formatFacts(output),
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
