import type { Entry } from './entry.ts'

/** Builds an entry with the given fields. */
export const entry = (part: Partial<Entry> = {}): Entry => ({
  v: 1,
  seq: 1,
  at: 1_763_200_000_000,
  prev: '0'.repeat(64),
  type: 'call.done',
  actor: { kind: 'agent', id: 'sales' },
  ...part,
})
