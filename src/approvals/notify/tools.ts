import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Delivery } from './model.ts'
import type { Notify } from './service.ts'
import { approvalResults, deliveryStatuses } from '../wire.ts'
import type { DeliveryResult } from '../wire.ts'

const channel = z.string().min(1).max(128).describe('Channel id from notify.channels')

export const notifyTools = (notify: Notify): Tool[] => [
  defineTool({
    ...forPeople.read,
    name: 'cowork_list_deliveries',
    title: 'List deliveries',
    description: 'List notification deliveries, newest first; dead ones failed permanently.',
    idempotent: true,
    input: z.object({
      status: z.enum(deliveryStatuses).optional().describe('Only deliveries with this status'),
      limit: effort(z.int().min(1).max(1000)).default(100),
    }),
    output: approvalResults.cowork_list_deliveries,
    describeTarget: () => ({ domain: 'cowork' }),
    async read(input) {
      const found = await notify.list(input.status, input.limit)
      return { deliveries: found.map(toDeliveryResult) }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_retry_delivery',
    title: 'Retry a delivery',
    description: 'Send a dead delivery again.',
    input: z.object({
      id: z.string().min(1).max(64).describe('Delivery id from cowork_list_deliveries'),
    }),
    output: approvalResults.cowork_retry_delivery,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    transact: async (tx, input, call) => toDeliveryResult(await notify.retry(tx, input.id, call)),
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_test_channel',
    title: 'Test a channel',
    description: 'Send a test notification to a channel and report the result.',
    openWorld: true,
    input: z.object({ id: channel }),
    output: approvalResults.cowork_test_channel,
    describeTarget: (input) => ({ domain: 'cowork', target: input.id }),
    async run(input, call) {
      const { ok, reason } = await notify.test(input.id, call)
      return { output: { ok, ...(reason !== undefined && { reason }) } }
    },
  }),
  defineTool({
    ...forPeople.write,
    name: 'cowork_bind_chat',
    title: 'Link a chat to yourself',
    description:
      'Create a code that links a Telegram chat to you. The chat receives your notifications, and its buttons decide low-risk requests as you.',
    input: z.object({ channel }),
    output: approvalResults.cowork_bind_chat,
    describeTarget: (input) => ({ domain: 'cowork', target: input.channel }),
    async transact(tx, input, call) {
      const { code, expiresAt } = await notify.bindChat(tx, input.channel, call)
      const how = `Send /start ${code} to the bot in a private chat within 10 minutes. This replaces a chat that you linked before.`
      return { code, expires_at: formatRfc3339(expiresAt), how }
    },
  }),
]

const toDeliveryResult = (one: Delivery): DeliveryResult => ({
  id: one.id,
  channel: one.channel,
  event: one.event,
  approval_id: one.approval,
  status: one.status,
  attempts: one.attempts,
  next_at: one.status === 'pending' ? formatRfc3339(one.nextAt) : null,
  held: one.held,
  last_error: one.lastError,
  created_at: formatRfc3339(one.createdAt),
})
