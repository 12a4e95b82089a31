// An agent that waits for a decision, in a separate process: reports the time of the reply.
import { sharedNow } from '../harness.ts'
import { callTool } from './api.ts'
import type { ToolEndpoint } from './api.ts'

export type WaitOrder = { readonly endpoint: ToolEndpoint; readonly approval: string }
export type Woken = { readonly at: number; readonly status: string }

async function wait({ endpoint, approval }: WaitOrder): Promise<Woken> {
  const input = { approval_id: approval, wait_seconds: 25 }
  const { status } = await callTool<{ status: string }>(endpoint, 'cowork_check_approval', input)
  return { at: sharedNow(), status }
}

process.on('message', (order: WaitOrder) => void wait(order).then((woken) => process.send?.(woken)))
process.send?.('ready')
