// An agent that waits for a decision, as a process of its own: tells when it was answered.
import { sharedNow } from '../harness.ts'
import { callTool } from './api.ts'
import type { Door } from './api.ts'

export type WaitOrder = { readonly door: Door; readonly approval: string }
export type Woken = { readonly at: number; readonly status: string }

async function wait({ door, approval }: WaitOrder): Promise<Woken> {
  const asked = { approval_id: approval, wait_seconds: 25 }
  const { status } = await callTool<{ status: string }>(door, 'cowork_check_approval', asked)
  return { at: sharedNow(), status }
}

process.on('message', (order: WaitOrder) => void wait(order).then((woken) => process.send?.(woken)))
process.send?.('ready')
