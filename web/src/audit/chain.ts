import { chainIds } from '../api/entry.ts'
import type { Actor, Entry } from '../api/entry.ts'

export type ChainId = { readonly name: (typeof chainIds)[number]; readonly id: string }

/** Returns the id that connects the entries of one action; a proposal is more specific than a call. */
export function getChainId({ ids }: Entry): ChainId | undefined {
  for (const name of chainIds) {
    const id = ids?.[name]
    if (id !== undefined) return { name, id }
  }
  return undefined
}

export type Lanes = {
  /** One lane per actor, in order of appearance. */
  readonly lanes: readonly Actor[]
  readonly steps: readonly {
    readonly entry: Entry
    readonly lane: number
    readonly label: string
  }[]
}

export function buildLanes(entries: readonly Entry[]): Lanes {
  const lanes: Actor[] = []
  const steps = entries
    .toSorted((a, b) => a.seq - b.seq)
    .map((entry) => {
      let lane = lanes.findIndex(
        ({ kind, id }) => kind === entry.actor.kind && id === entry.actor.id,
      )
      if (lane === -1) lane = lanes.push(entry.actor) - 1
      return { entry, lane, label: getStepLabel(entry) }
    })
  return { lanes, steps }
}

const stepLabels: Record<string, string> = {
  'proposal.created': 'propose',
  'approval.requested': 'request',
  'approval.approved': 'approve',
  'approval.rejected': 'reject',
  'call.started': 'start',
  'call.done': 'done',
  'call.failed': 'failed',
  'call.refused': 'refused',
}

/** Returns the step name of G2, or the entry type as words. */
function getStepLabel({ type, data }: Entry): string {
  if (type === 'action.logged') return data?.['phase'] === 'verify' ? 'verify' : 'execute'
  return stepLabels[type] ?? type.replaceAll(/[._]/g, ' ')
}
