import { CoworkError } from '#base/errors.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { byPrefix } from './prefix.ts'
import { shown } from './output.ts'
import type { Status } from './status.ts'

type Halt = { scope: string; reason: string; by: string; at: string }

export type HaltFlags = { readonly reason?: string; readonly force?: boolean }

export async function halt(
  context: Context,
  scope: string,
  { reason = '', force = false }: HaltFlags,
) {
  const set = await createClient(context).call<Halt>('cowork_halt', { scope, reason, force })
  context.out.data(set, () => [
    `Halted: ${shown(set.scope)}. Resume with: cowork resume ${shellWord(set.scope)}`,
  ])
}

/** One word for a POSIX shell, so that the printed command works as it is. */
const shellWord = (word: string): string =>
  /^[\w:.@/-]+$/.test(word) ? word : `'${shown(word).replaceAll("'", String.raw`'\''`)}'`

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
