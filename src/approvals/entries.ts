import type { Actor, Draft, EntryIds } from '#base/entry.ts'
import type { Deciding, Told } from './kinds.ts'
import type { Approval } from './model.ts'

export const idsOf = ({ id, kind }: Pick<Approval, 'id' | 'kind'>): EntryIds => ({
  approval: id,
  ...(kind === 'proposal' && { proposal: id }),
  ...(kind === 'handoff' && { handoff: id }),
})

export function entryOf(
  type: string,
  approval: Approval,
  actor: Actor,
  call: Deciding,
  data: Told = {},
): Draft {
  const { kind, requester, action, domain, target } = approval
  return {
    type,
    actor,
    domain,
    subject: target,
    ids: { ...idsOf(approval), ...(call.caller && call.id && { call: call.id }) },
    outcome: type.slice(type.indexOf('.') + 1),
    data: { kind, requester, action, ...data },
  }
}
