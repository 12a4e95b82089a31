/** Entries that say how a call ended. That of a proposal is the record of its own call (0014). */
export const callEnds = ['call.done', 'call.failed', 'call.refused', 'proposal.created'] as const

type Told = { readonly type: unknown; readonly data?: unknown }

/** Whether it says that a call was carried out. Before 0014 a proposal had a `call.done` beside it. */
export const isDone = ({ type, data }: Told): boolean =>
  type === 'call.done' || (type === 'proposal.created' && namesTool(data))

const namesTool = (data: unknown) =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, 'tool')
