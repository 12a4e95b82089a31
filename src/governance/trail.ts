import type { Entry } from '#ledger'

/** The four steps of a governed act, in the order they must happen (G2). */
const steps = ['propose', 'approve', 'execute', 'verify'] as const
type Step = (typeof steps)[number]

type TrailStep = { step: Step; seq: number; at: number; actor: string; type: string }
export type Trail = { chain: TrailStep[]; missing: Step[]; inOrder: boolean }

/** Which steps an entry is: what trust approves is proposed and approved at once (P5). */
function stepsOf({ type, data }: Entry): Step[] {
  if (type === 'proposal.created') return data?.['auto'] ? ['propose', 'approve'] : ['propose']
  if (type === 'approval.approved') return ['approve']
  if (type === 'action.logged') return [data?.['phase'] === 'verify' ? 'verify' : 'execute']
  return []
}

/** Reads one proposal's entries, given in the order of the ledger. */
export function trailOf(entries: readonly Entry[]): Trail {
  const chain = entries.flatMap((entry): TrailStep[] => {
    const { seq, at, type, actor } = entry
    return stepsOf(entry).map((step) => {
      const isTrust = step === 'approve' && type === 'proposal.created'
      return { step, seq, at, actor: isTrust ? 'trust' : actor.id, type }
    })
  })
  const missing = steps.filter((step) => !chain.some((link) => link.step === step))
  // Seen for the first time in the order of the steps: a second execution may follow a verification.
  const firsts = steps.flatMap((step) => chain.find((link) => link.step === step)?.seq ?? [])
  const inOrder = firsts.every((seq, at) => at === 0 || seq >= (firsts[at - 1] ?? 0))
  // A later step without an earlier one is out of order too: executed, but never approved.
  const complete =
    firsts.length === 0 || steps.slice(0, firsts.length).every((s) => !missing.includes(s))
  return { chain, missing, inOrder: inOrder && complete }
}
