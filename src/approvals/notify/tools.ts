import * as z from 'zod'
import { rfc3339 } from '#base/clock.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { deliveryStatuses } from './model.ts'
import type { Delivery } from './model.ts'
import type { Notify } from './service.ts'

const time = z.iso.datetime()
const listed = z.object({
  id: z.string().describe('Also the webhook-id that the receiver sees'),
  channel: z.string(),
  event: z.string(),
  approval_id: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.number().int(),
  next_at: time.nullable().describe('When it is tried next, while it waits'),
  last_error: z.string().nullable(),
  created_at: time,
})

const common = { toolset: 'cowork', by: 'human' } as const

/** How people see what was told outside, and send again what could not be. */
export const notifyTools = (notify: Notify): Tool[] => [
  defineTool({
    ...common,
    name: 'cowork_list_deliveries',
    title: 'List deliveries',
    description:
      'Lists notices on their way to outside channels, newest first; dead ones failed for good.',
    effect: 'read',
    idempotent: true,
    input: z.object({
      status: z.enum(deliveryStatuses).optional().describe('Only those in this state'),
      limit: z.number().int().min(1).max(1000).default(100),
    }),
    output: z.object({ deliveries: z.array(listed) }),
    touches: () => ({ domain: 'cowork' }),
    async run(input) {
      const found = await notify.list(input.status, input.limit)
      return { deliveries: found.map(toListed) }
    },
  }),
  defineTool({
    ...common,
    name: 'cowork_retry_delivery',
    title: 'Retry a delivery',
    description: 'Puts a dead delivery back, so that it is sent again now.',
    effect: 'write',
    input: z.object({
      id: z.string().min(1).max(64).describe('Its id, from cowork_list_deliveries'),
    }),
    output: listed,
    touches: (input) => ({ domain: 'cowork', target: input.id }),
    change: async (tx, input, call) => toListed(await notify.retry(tx, input.id, call)),
  }),
]

const toListed = (one: Delivery): z.output<typeof listed> => ({
  id: one.id,
  channel: one.channel,
  event: one.event,
  approval_id: one.approval,
  status: one.status,
  attempts: one.attempts,
  next_at: one.status === 'pending' ? rfc3339(one.nextAt) : null,
  last_error: one.lastError,
  created_at: rfc3339(one.createdAt),
})
