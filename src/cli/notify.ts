import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { table } from './output.ts'
import { requirePersonHere } from './person.ts'
import { plain } from './plain.ts'
import { byPrefix, shortIds } from './prefix.ts'

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

/** Sends a test notice now; the exit code says whether it was taken (A10). */
export async function testChannel(context: Context, channel: string): Promise<ExitCode> {
  requirePersonHere(context, 'Testing a channel')
  const asked = { id: channel }
  const tested = await createClient(context).call<{ ok: boolean; reason?: string }>(
    'cowork_test_channel',
    asked,
  )
  const why = tested.reason === undefined ? '.' : `: ${plain(tested.reason)}`
  context.out.data(tested, () => [
    `${plain(channel)} ${tested.ok ? 'took' : 'did not take'} a test notice${why}`,
  ])
  return tested.ok ? exitCode.ok : exitCode.failed
}

/** A code that binds a Telegram chat to whoever asks for it (A5). */
export async function bindChat(context: Context, channel: string): Promise<void> {
  requirePersonHere(context, 'Binding a chat')
  const bound = await createClient(context).call<{ code: string; expires_at: string; how: string }>(
    'cowork_bind_chat',
    { channel },
  )
  context.out.data(bound, () => [plain(bound.how)])
}
