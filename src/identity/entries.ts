import { actorOf } from '#base/caller.ts'
import type { Draft } from '#base/entry.ts'
import type { Call } from '#base/tool.ts'

export type By = Pick<Call, 'id' | 'caller'>

/** What the ledger keeps of a change to agents or people; never a secret. */
export const entryBy = (
  by: By,
  type: string,
  subject: string,
  data: Record<string, unknown> = {},
): Draft => ({
  type,
  actor: actorOf(by.caller),
  domain: 'cowork',
  subject,
  ids: { call: by.id },
  data,
})
