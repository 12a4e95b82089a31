import { shortIds } from './approvals.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { table } from './output.ts'
import { plain } from './plain.ts'
import { byPrefix } from './prefix.ts'

type Delivery = {
  id: string
  channel: string
  event: string
  approval_id: string
  status: string
  attempts: number
  next_at: string | null
  last_error: string | null
  created_at: string
}

export type DeliveryFlags = { readonly dead?: boolean; readonly lines: number }

const listed = (client: Client, asked: object) =>
  client.call<{ deliveries: Delivery[] }>('cowork_list_deliveries', asked)

/** What was told outside, and what could not be (A10). */
export async function listDeliveries(
  context: Context,
  { dead = false, lines }: DeliveryFlags,
): Promise<void> {
  const asked = { limit: Math.min(Math.max(lines, 1), 1000), ...(dead && { status: 'dead' }) }
  const { deliveries } = await listed(createClient(context), asked)
  const short = shortIds(deliveries.map(({ id }) => id))
  const head = ['ID', 'STATUS', 'CHANNEL', 'EVENT', 'APPROVAL', 'TRIES', 'NEXT', 'ERROR']
  const rows = deliveries.map((one) => [
    short(one.id),
    one.status,
    plain(one.channel),
    one.event,
    one.approval_id,
    one.attempts,
    one.next_at ?? '–',
    plain(one.last_error ?? ''),
  ])
  context.out.data({ deliveries }, () =>
    deliveries.length > 0
      ? table(head, rows)
      : [`Nothing ${dead ? 'failed for good' : 'was sent'}.`],
  )
}

export async function retryDelivery(context: Context, given: string): Promise<void> {
  const client = createClient(context)
  const { deliveries } = await listed(client, { status: 'dead', limit: 1000 })
  const id = byPrefix(
    given,
    deliveries.map((one) => one.id),
    'dead delivery',
  )
  const retried = await client.call<object>('cowork_retry_delivery', { id })
  context.out.data(retried, () => [`${id} is sent again now.`])
}
