import type { Caller } from '#base/caller.ts'
import type { Tx } from '#base/db/port.ts'
import type { GovernanceStore } from './store.ts'

/** So many of one agent wait at most, of what no cap counts: more would only bury the others (V3). */
export const mostWaiting = 50

export const whenMost = 'Wait for a person to decide, or take some back with cowork_withdraw.'

export const hasMost = async (
  store: Pick<GovernanceStore, 'waiting'>,
  tx: Tx,
  kind: string,
  { id, since = 0 }: Caller,
): Promise<boolean> => (await store.waiting(tx, id, kind, since)) >= mostWaiting
