import * as z from 'zod'
import { isVisiblyUnambiguous } from '../rules/visible-name.ts'
import { severities, overrideTypes } from '../rules/trust.ts'

/** PostgreSQL text cannot contain NUL, and a lone surrogate has no canonical form to hash. */
export const boundedText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .regex(/^[^\0]*$/, 'must not contain NUL')
    .refine((text) => text.isWellFormed(), 'must not contain a lone surrogate')

/**
 * Every tool of the COWORK protocol accepts agent_id; the endpoint has already compared it with the credential (I5).
 */
export const agentFields = {
  agent_id: boundedText(128).optional().describe('Your name, with authentication off'),
}

export const agentId = boundedText(128).min(1)
/** A different spelling is a different domain: a look-alike must not escape its policy. */
export const domain = boundedText(128)
  .min(1)
  .refine(
    isVisiblyUnambiguous,
    'must not begin or end with white space, nor contain invisible characters',
  )
  .describe('Domain, for example crm.deals')
export const action = boundedText(200).min(1).describe('For example update_deal')
export const target = boundedText(1000).describe('For example deal_12345')
export const longText = boundedText(10_000)
export const approvalId = boundedText(128).min(1)

export const overrideType = z.enum(overrideTypes).describe('Why it was wrong')
export const severity = z.enum(severities).default('medium')
