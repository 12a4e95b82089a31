import type { Entry } from '../api/entry.ts'

export type Outcome = 'done' | 'refused' | 'failed'

export const outcomeLabels: Record<Outcome, string> = {
  done: 'Done',
  refused: 'Refused',
  failed: 'Failed',
}

export function getOutcome({ type }: Entry): Outcome | undefined {
  if (type === 'call.done') return 'done'
  if (type === 'auth.failed' || type.endsWith('.refused')) return 'refused'
  return type.endsWith('.failed') ? 'failed' : undefined
}
