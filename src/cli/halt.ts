import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { byPrefix } from './prefix.ts'
import { shown } from './output.ts'
import type { Status } from './status.ts'

type Halt = { scope: string; reason: string; by: string; at: string }

export async function halt(context: Context, scope: string, { reason = '' }: { reason?: string }) {
  const set = await createClient(context).call<Halt>('cowork_halt', { scope, reason })
  context.out.data(set, () => [`Halted: ${shown(set.scope)}. \`cowork resume\` lifts it.`])
}

export async function resume(context: Context, given: string) {
  const client = createClient(context)
  const { halts } = await client.call<Status>('cowork_status')
  if (halts.length === 0) throw new CoworkError('not_found', 'Nothing is halted.')
  const scope = byPrefix(
    given,
    halts.map((one) => one.scope),
    'halt',
  )
  const lifted = await client.call<{ scope: string }>('cowork_resume', { scope })
  context.out.data(lifted, () => [`Resumed: ${shown(lifted.scope)}.`])
}
