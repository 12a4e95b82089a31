import { chainIds } from '../api/entry.ts'
import type { Actor, Entry } from '../api/entry.ts'

export type ChainId = { readonly name: (typeof chainIds)[number]; readonly id: string }

/** By which id the entries of one act find each other: the proposal says more than the call. */
export function getChainId({ ids }: Entry): ChainId | undefined {
  for (const name of chainIds) {
    const id = ids?.[name]
    if (id !== undefined) return { name, id }
  }
  return undefined
}

export type Lanes = {
  /** One lane for each actor, in the order they appear. */
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
      return { entry, lane, label: stepOf(entry) }
    })
  return { lanes, steps }
}

const named: Record<string, string> = {
  'proposal.created': 'propose',
  'approval.requested': 'request',
  'approval.approved': 'approve',
  'approval.rejected': 'reject',
  'call.started': 'start',
  'call.done': 'done',
  'call.failed': 'failed',
  'call.refused': 'refused',
}

/** The word of G2 for a step, else what happened. */
function stepOf({ type, data }: Entry): string {
  if (type === 'action.logged') return data?.['phase'] === 'verify' ? 'verify' : 'execute'
  return named[type] ?? type.replaceAll(/[._]/g, ' ')
}
