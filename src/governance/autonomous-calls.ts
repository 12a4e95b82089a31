import type { Approvals, Risk } from '#approvals'
import type { Reader } from '#base/db/port.ts'
import type { Client } from '#base/entry.ts'
import type { Entry, EntryLookup } from '#ledger'
import type { TrustKey } from './trust-service.ts'

/** Something that an agent did without asking, as the store and the ledger have it. */
export type DoneAlone = TrustKey & {
  /** Of its proposal, or of its call. */
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

/** What tells a proposal that trust approved, or a call that it let through, from the rest. */
export function isAlone({ type, actor, data }: Entry): boolean {
  if (actor.kind !== 'agent') return false
  return type === 'proposal.created' ? data?.['auto'] === true : decisionOf(data)['by'] === 'trust'
}

/** Which of them it is, and whose trust let it: that of a domain and a class of risk. */
export function aloneIn({ type, actor, domain = '', ids, data }: Entry) {
  if (type === 'proposal.created')
    return {
      id: ids?.proposal ?? '',
      agent: actor.id,
      domain,
      risk: (data?.['risk'] ?? 'normal') as Risk,
    }
  const decision = decisionOf(data)
  return {
    id: ids?.call ?? '',
    agent: actor.id,
    // Of cowork's own tools the entry may name another domain than that of their trust.
    domain: (decision['domain'] ?? domain) as string,
    risk: (decision['risk'] ?? 'normal') as Risk,
  }
}

export function createAlone(lookup: EntryLookup, approvals: () => Pick<Approvals, 'find'>) {
  async function fromProposal(reader: Reader, id: string): Promise<DoneAlone | undefined> {
    const found = await approvals().find(reader, id)
    if (found?.kind !== 'proposal' || found.channel !== 'trust') return undefined
    const { requester: agent, domain, risk, action, target, trustLevel, content } = found
    const { change, client } = content
    return { id, proposal: id, agent, domain, risk, action, target, change, trustLevel, client }
  }

  /** Only one that ended well: what failed was not done. */
  async function fromCall(reader: Reader, id: string): Promise<DoneAlone | undefined> {
    const entries = await lookup.call(reader, id)
    const entry = entries.find(isAlone)
    if (!entry || !entries.some(({ type }) => type === 'call.done')) return undefined
    const { seq, actor, subject = '', data } = entry
    const level = decisionOf(data)['trust_level']
    return {
      ...aloneIn(entry),
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
    /** What it did lately in a domain, in one class of risk or in all, newest first. */
    async lately(reader: Reader, { agent, domain }: TrustKey, risk?: Risk) {
      const entries = await lookup.listAutonomous(reader, { actor: agent, domain, risk })
      const found = entries.filter(isAlone).map(aloneIn)
      const same = found.filter(
        (one) => one.domain === domain && (risk === undefined || one.risk === risk),
      )
      return [...new Map(same.map((one) => [one.id, one])).values()]
    },
  }
}

const decisionOf = (data: Entry['data']): Readonly<Record<string, unknown>> => {
  const decision = data?.['decision']
  return typeof decision === 'object' && decision !== null
    ? (decision as Readonly<Record<string, unknown>>)
    : {}
}

/** How what a call did can be taken back; the domain of the tool knows it. */
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
