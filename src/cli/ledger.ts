import { createClient } from './client.ts'
import type { Context } from './context.ts'

/** Erases what is kept beside an entry; the entry, and that it was done, stay (L8). */
export async function redact(context: Context, seq: number, { reason }: { reason: string }) {
  await createClient(context).call('cowork_redact', { seq, reason })
  context.out.data({ seq, erased: true }, () => [
    `What was kept beside entry ${seq} is erased. The entry and its proofs stay.`,
  ])
}
