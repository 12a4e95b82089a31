import type { Entry } from '#ledger'

/** The steps of a governed action, in the required order (G2). */
const steps = ['propose', 'approve', 'execute', 'verify'] as const
type Step = (typeof steps)[number]

/** Logged under a proposal, but not what was proposed. */
const otherStep = 'something_else'

type TrailStep = {
  step: Step | typeof otherStep
  seq: number
  at: number
  actor: string
  type: string
}
export type AuditTrail = { chain: TrailStep[]; missing: Step[]; isInOrder: boolean }

/** Returns the steps of an entry: a proposal that trust approves is proposed and approved at once (P5). */
function toSteps(entry: Entry, proposed: Entry | undefined): TrailStep['step'][] {
  const { type, data } = entry
  if (type === 'proposal.created') return data?.['auto'] ? ['propose', 'approve'] : ['propose']
  if (type === 'approval.approved') return ['approve']
  if (type !== 'action.logged') return []
  if (data?.['phase'] === 'verify') return ['verify']
  return [!proposed || isAsProposed(entry, proposed) ? 'execute' : otherStep]
}

const isAsProposed = ({ domain, subject, data }: Entry, proposed: Entry) =>
  domain === proposed.domain &&
  subject === proposed.subject &&
  data?.['action'] === proposed.data?.['action']

export function buildAuditTrail(entries: readonly Entry[]): AuditTrail {
  const proposed = entries.find(({ type }) => type === 'proposal.created')
  const chain = entries.flatMap((entry): TrailStep[] => {
    const { seq, at, type, actor } = entry
    return toSteps(entry, proposed).map((step) => {
      const isTrust = step === 'approve' && type === 'proposal.created'
      return { step, seq, at, actor: isTrust ? 'trust' : actor.id, type }
    })
  })
  const missing = steps.filter((step) => !chain.some((link) => link.step === step))
  // Compares the first occurrence of each step: a second execution may follow a verification.
  const firsts = steps.flatMap((step) => chain.find((link) => link.step === step)?.seq ?? [])
  const inOrder = firsts.every((seq, at) => at === 0 || seq >= (firsts[at - 1] ?? 0))
  // A later step without an earlier one is out of order too: executed, but never approved.
  const complete =
    firsts.length === 0 || steps.slice(0, firsts.length).every((s) => !missing.includes(s))
  const isOther = chain.some(({ step }) => step === otherStep)
  return { chain, missing, isInOrder: inOrder && complete && !isOther }
}
