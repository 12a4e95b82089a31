import { isOwn } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Entry } from './model.ts'
import type { Conditions } from './search.ts'

/** An agent sees its own entries, people see all (L10). */
export const visibleTo = (caller: Caller, { actor, at }: Entry): boolean =>
  caller.kind !== 'agent' || (actor.kind === 'agent' && isOwn(caller, actor.id, at))

/** The same as a filter, from a time on. The kind too: a person may have the id of an agent. */
export const visibleEntries = (
  { kind, id, since: own = 0 }: Caller,
  since?: number,
): Pick<Conditions, 'actor' | 'actorKind' | 'since'> =>
  kind === 'agent'
    ? { actor: id, actorKind: kind, since: Math.max(own, since ?? 0) || undefined }
    : { since }
