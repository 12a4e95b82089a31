import { toActor } from '#base/caller.ts'
import type { EntryDraft } from '#base/entry.ts'
import type { Call } from '#base/tool.ts'

export type ActingCall = Pick<Call, 'id' | 'caller'>

/** Builds the entry of a change to agents or people. It contains no secret. */
export const buildIdentityEntry = (
  by: ActingCall,
  type: string,
  subject: string,
  data: Record<string, unknown> = {},
): EntryDraft => ({
  type,
  actor: toActor(by.caller),
  domain: 'cowork',
  subject,
  ids: { call: by.id },
  data,
})
