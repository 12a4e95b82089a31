import type { Approvals, Risk } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import type { Client } from '#base/entry.ts'
import type { Entry, EntryLookup } from '#ledger'
import type { TrustKey } from './trust-service.ts'

/** An action without approval, from the store and the ledger. */
export type AutonomousCall = TrustKey & {
  /** Id of the proposal or of the call. */
  readonly id: string
  readonly risk: Risk
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly trustLevel: number | null
  readonly call?: string | undefined
  readonly proposal?: string | undefined
  readonly client?: Client | undefined
}

/** True for a proposal that trust approved and for a call that trust allowed. */
export function isAutonomous({ type, actor, data }: Entry): boolean {
  if (actor.kind !== 'agent') return false
  return type === 'proposal.created' ? data?.['auto'] === true : getDecision(data)['by'] === 'trust'
}

/** Identifies the action and the trust that allowed it: a domain and a risk class. */
export function toAutonomousKey({ type, actor, domain = '', ids, data }: Entry) {
  if (type === 'proposal.created')
    return {
      id: ids?.proposal ?? '',
      agent: actor.id,
      domain,
      risk: (data?.['risk'] ?? 'normal') as Risk,
    }
  const decision = getDecision(data)
  return {
    id: ids?.call ?? '',
    agent: actor.id,
    // For a tool of cowork, the domain of the entry may differ from the domain of the trust.
    domain: (decision['domain'] ?? domain) as string,
    risk: (decision['risk'] ?? 'normal') as Risk,
  }
}

export function createAutonomousCalls(
  lookup: EntryLookup,
  approvals: () => Pick<Approvals, 'find'>,
) {
  async function fromProposal(reader: Reader, id: string): Promise<AutonomousCall | undefined> {
    const approval = await approvals().find(reader, id)
    if (approval?.kind !== 'proposal' || approval.channel !== 'trust') return undefined
    const { requester: agent, domain, risk, action, target, trustLevel, content } = approval
    const { change, client } = content
    return { id, proposal: id, agent, domain, risk, action, target, change, trustLevel, client }
  }

  /** Only successful calls: a failed one had no effect. */
  async function fromCall(reader: Reader, id: string): Promise<AutonomousCall | undefined> {
    const entries = await lookup.call(reader, id)
    const entry = entries.find(isAutonomous)
    if (!entry || !entries.some(({ type }) => type === 'call.done')) return undefined
    const { seq, actor, subject = '', data } = entry
    const level = getDecision(data)['trust_level']
    return {
      ...toAutonomousKey(entry),
      call: id,
      action: data?.['tool'] as string,
      target: subject,
      change: (await lookup.payload(reader, seq)) ?? null,
      trustLevel: typeof level === 'number' ? level : null,
      client: actor.client as Client | undefined,
    }
  }

  const find = async (reader: Reader, id: string) =>
    (await fromProposal(reader, id)) ?? fromCall(reader, id)

  return {
    find,
    /** Lists recent autonomous actions in a domain, in one risk class or in all, newest first. */
    async listRecent(reader: Reader, { agent, domain }: TrustKey, risk?: Risk) {
      const entries = await lookup.listAutonomous(reader, { actor: agent, domain, risk })
      const keys = entries.filter(isAutonomous).map(toAutonomousKey)
      const same = keys.filter(
        (one) => one.domain === domain && (risk === undefined || one.risk === risk),
      )
      return [...new Map(same.map((one) => [one.id, one])).values()]
    },
  }
}

const getDecision = (data: Entry['data']): Readonly<Record<string, unknown>> => {
  const decision = data?.['decision']
  return typeof decision === 'object' && decision !== null
    ? (decision as Readonly<Record<string, unknown>>)
    : {}
}

/** Reverts the effect of a call; the module of the tool implements it. */
export type Undo = {
  readonly find: (reader: Reader, done: Entry) => Promise<UndoCall | undefined>
  readonly isDone: (reader: Reader, done: Entry) => Promise<boolean>
}

type UndoCall = {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly text: string
}

export type IsUndone = ReturnType<typeof createIsUndone>

export const createIsUndone =
  (lookup: Pick<EntryLookup, 'call'>, undo: Pick<Undo, 'isDone'> | undefined) =>
  async (reader: Reader, call: string): Promise<boolean> => {
    if (!undo) return false
    const done = (await lookup.call(reader, call)).find(({ type }) => type === 'call.done')
    return done !== undefined && undo.isDone(reader, done)
  }
