import type * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import type { Approval, Decision, Risk } from './model.ts'

export type DecisionDetails = Readonly<Record<string, unknown>>

/**
 * A person's edit of a request: the new change, its target, and its risk if the edit was evaluated
 * again.
 */
export type EditedChange = {
  readonly change: unknown
  readonly target: string
  readonly risk?: Risk
  /** The form that the digest covers, if it differs from the change that runs (A1). */
  readonly canonical?: unknown
}

/** A field that a decision may contain; `cowork_decide` accepts the fields of all kinds. */
type AnswerField = {
  readonly schema: z.ZodType
  /**
   * Names the approvals of this kind. The field is refused for other kinds, and the hint contains
   * this text.
   */
  readonly onlyFor?: string
  /**
   * Names the action. The field is refused for several approvals at once, and the hint contains
   * this text.
   */
  readonly oneByOne?: string
  /**
   * True when this value allows more than was requested, so the risk of the request does not limit
   * it.
   */
  readonly isWider?: (value: unknown) => boolean
}

/** The part of a kind that needs no running system. */
export type KindDeclaration = {
  readonly kind: string
  /** The schema of `content.extra`, checked when an approval is opened. */
  readonly content?: z.ZodType
  readonly fields?: Readonly<Record<string, AnswerField>>
  /** `decision`: approval and rejection change trust. `override`: only an override does. */
  readonly movesTrust?: 'decision' | 'override'
}

/**
 * A module's registration for one kind of approval. `onDecided` runs in the transaction of the
 * decision, so the decision, its effect and its ledger entries are one commit.
 */
export type ApprovalKind = KindDeclaration & {
  /** The time until an undecided approval expires. Without it, the approval does not expire. */
  readonly ttlMs?: number
  /** An approval creates a token that the execution consumes (A2). */
  readonly token?: true
  /**
   * The arguments are stored encrypted, because they run exactly as requested (A14): until the
   * decision, or until the approval is used. Without this field only the redacted copy is stored.
   */
  readonly keepsArguments?: 'until decided' | 'until used'
  readonly openedEntryType?: string
  readonly decidedEntryType?: string
  /** Throws on an incomplete decision, before any write. Returns details for the ledger entry. */
  check?(
    approval: Approval,
    decision: Decision,
    reader: Reader,
  ): Promise<DecisionDetails | void> | DecisionDetails | void
  /**
   * Parses a person's edit (B3) and throws if it cannot be approved. `approval` and `change`
   * contain the real arguments; all other functions of a kind get the redacted copy.
   */
  edited?(approval: Approval, change: unknown, reader: Reader): Promise<EditedChange> | EditedChange
  /** Returns the answer to an open question (H2). An answer does not edit the request. */
  answer?(decision: Decision, approval: Approval): unknown
  onDecided(
    tx: Tx,
    approval: Approval,
    decision: Decision,
    call: DecisionContext,
  ): Promise<DecisionDetails | void>
  /** Runs when the approval expires or is withdrawn. */
  onClosedUndecided?(tx: Tx, approval: Approval): Promise<void>
}

/** The call that decides. A deferred decision is made by the system, so both fields are absent. */
export type DecisionContext = { readonly id?: string; readonly caller?: Caller }

export type AnswerFields = ReadonlyMap<string, AnswerField & { readonly kind: string }>

export function toAnswerFields(kinds: readonly KindDeclaration[]): AnswerFields {
  const all = kinds.flatMap(({ kind, fields = {} }) =>
    Object.entries(fields).map(([name, field]) => [name, { ...field, kind }] as const),
  )
  const byName = new Map(all)
  if (byName.size < all.length) throw new Error('two approval kinds declare the same answer field')
  return byName
}

export type ApprovalKinds = ReturnType<typeof createApprovalKinds>

export function createApprovalKinds(list: readonly ApprovalKind[]) {
  const kinds = new Map<string, ApprovalKind>()
  for (const kind of list) {
    if (kinds.has(kind.kind)) throw new Error(`approval kind registered twice: ${kind.kind}`)
    kinds.set(kind.kind, kind)
  }
  return {
    find: (name: string): ApprovalKind | undefined => kinds.get(name),
    get(name: string): ApprovalKind {
      const kind = kinds.get(name)
      if (!kind) throw new Error(`approval kind not registered: ${name}`)
      return kind
    },
  }
}
