import * as z from 'zod'

export const statuses = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'withdrawn',
  'consumed',
] as const
export type Status = (typeof statuses)[number]

/** All kinds of approvals; the inbox and the notifications filter by them. */
export const approvalKinds = [
  'proposal',
  'plan',
  'grant',
  'call',
  'permission',
  'spot_check',
  'handoff',
  'finding',
] as const

export const modes = ['act', 'suggest', 'escalate'] as const
export type Mode = (typeof modes)[number]

export const risks = ['low', 'normal', 'high'] as const
export type Risk = (typeof risks)[number]

const time = z.iso.datetime()

export const deliveryStatuses = ['pending', 'sent', 'dead'] as const

/** Why a delivery is delayed: quiet hours, a digest, or a later escalation. */
export const delayReasons = ['quiet', 'digest', 'escalation'] as const

const delivery = z.object({
  id: z.string().describe('Also sent as webhook-id'),
  channel: z.string(),
  event: z.string(),
  approval_id: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.number().int(),
  next_at: time.nullable().describe('Next attempt of a pending delivery'),
  held: z.enum(delayReasons).nullable().describe('Reason for the delay'),
  last_error: z.string().nullable(),
  created_at: time,
})
export type DeliveryResult = z.output<typeof delivery>

export const approvalResults = {
  cowork_halt: z.object({ scope: z.string(), reason: z.string(), by: z.string(), at: z.string() }),
  cowork_resume: z.object({ scope: z.string(), resumed: z.boolean() }),
  cowork_list_deliveries: z.object({ deliveries: z.array(delivery) }),
  cowork_retry_delivery: delivery,
  cowork_test_channel: z.object({
    ok: z.boolean(),
    reason: z.string().optional().describe('Error, or the recipients that were not reached'),
  }),
  cowork_bind_chat: z.object({
    code: z.string().describe('Single-use code'),
    expires_at: time,
    how: z.string(),
  }),
}
