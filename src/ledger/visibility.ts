import type { Caller } from '#base/caller.ts'
import type { Entry } from './model.ts'
import type { Conditions } from './search.ts'

/** An agent sees its own entries, people see all (L10). */
export const visibleTo = (caller: Caller, entry: Entry): boolean =>
  caller.kind !== 'agent' || (entry.actor.kind === 'agent' && entry.actor.id === caller.id)

/** The same as a filter. The kind too: a person may have the id of an agent. */
export const visibleEntries = ({ kind, id }: Caller): Pick<Conditions, 'actor' | 'actorKind'> =>
  kind === 'agent' ? { actor: id, actorKind: kind } : {}
