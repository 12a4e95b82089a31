import type { Caller } from '#base/caller.ts'
import type { Entry } from './model.ts'

/** An agent sees its own entries, people see all (L10). */
export const visibleTo = (caller: Caller, entry: Entry): boolean =>
  caller.kind !== 'agent' || (entry.actor.kind === 'agent' && entry.actor.id === caller.id)
