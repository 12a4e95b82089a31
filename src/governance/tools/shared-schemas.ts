import * as z from 'zod'
import { isVisiblyUnambiguous } from '../rules/visible-name.ts'
import { severities, overrideTypes } from '../rules/trust.ts'

/** PostgreSQL has no room for NUL in a text, and half a character has no canonical form to be hashed. */
export const boundedText = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/, 'must not contain NUL')
    .refine((given) => given.isWellFormed(), 'must not contain half a character')

/** Every tool of seed 001 takes this; the door has already compared it with the credential (I5). */
export const agentFields = {
  agent_id: boundedText(128).optional().describe('Your name, with authentication off'),
}

export const agentId = boundedText(128).min(1)
/** Another spelling of a domain is another domain: what looks alike must not leave its policy. */
export const domain = boundedText(128)
  .min(1)
  .refine(
    isVisiblyUnambiguous,
    'must not begin or end with white space, nor contain invisible characters',
  )
  .describe('Area, such as crm.deals')
export const action = boundedText(200).min(1).describe('Such as update_deal')
export const target = boundedText(1000).describe('Such as deal_12345')
export const longText = boundedText(10_000)
export const approvalId = boundedText(128).min(1)

export const overrideType = z.enum(overrideTypes).describe('Why it was wrong')
export const severity = z.enum(severities).default('medium')
