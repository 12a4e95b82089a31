import type * as z from 'zod'
import type { Caller } from '#base/caller.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import type { Approval, Decision, Risk } from './model.ts'

export type DecisionDetails = Readonly<Record<string, unknown>>

/** What is approved instead of what was asked, what that is about, and how risky where that is judged anew. */
export type EditedChange = {
  readonly change: unknown
  readonly target: string
  readonly risk?: Risk
  /** The change as its digest is computed from, where that differs from the change as it runs (A1). */
  readonly canonical?: unknown
}

/** A field that a person may give with a decision; `cowork_decide` takes the fields of all kinds. */
type AnswerField = {
  readonly schema: z.ZodType
  /** The approvals of its kind in words: the field is refused about others, with these words in the hint. */
  readonly onlyFor?: string
  /** The act in words: it is refused about many approvals at once, with these words in the hint. */
  readonly oneByOne?: string
  /** Whether this value allows more than was asked, so that the risk of the request does not bound it. */
  readonly isWider?: (value: unknown) => boolean
}

/** The facts of a kind that need no running system. */
export type KindDeclaration = {
  readonly kind: string
  /** The schema of `content.more`: checked when an approval is opened, and used by whoever reads it. */
  readonly content?: z.ZodType
  readonly fields?: Readonly<Record<string, AnswerField>>
  /** Both decisions about it move trust, or an override alone. */
  readonly movesTrust?: 'decision' | 'override'
}

/**
 * What a domain registers so that its waits end in the one approval record. `onDecided` runs in the
 * transaction of the decision, so deciding, acting on it and the ledger are one commit.
 */
export type ApprovalKind = KindDeclaration & {
  /** How long it waits for a decision; for ever where absent. */
  readonly ttlMs?: number
  /** An approval mints a token that its execution consumes (A2). */
  readonly token?: true
  /**
   * Its arguments have to run as they were given, so they are kept encrypted (A14): until it is decided, or until
   * what was approved is used. A kind without this keeps only the copy that is shown.
   */
  readonly keepsArguments?: 'until decided' | 'until used'
  readonly openedEntryType?: string
  readonly decidedEntryType?: string
  /** Refuses a decision that lacks something, before anything is written. Returns details for its entry. */
  check?(
    approval: Approval,
    decision: Decision,
    reader: Reader,
  ): Promise<DecisionDetails | void> | DecisionDetails | void
  /**
   * Reads the edit of a person (B3) and refuses one that may not be approved. Gets the approval
   * and the edit with real arguments. All other functions of a kind get the copy that is shown.
   */
  edited?(approval: Approval, change: unknown, reader: Reader): Promise<EditedChange> | EditedChange
  /** What a person says where the question is not yes or no (H2). It is no edit of what was asked. */
  answer?(decision: Decision, approval: Approval): unknown
  onDecided(
    tx: Tx,
    approval: Approval,
    decision: Decision,
    call: DecisionContext,
  ): Promise<DecisionDetails | void>
  /** Nobody decided in time, or the agent took it back. */
  onClosedUndecided?(tx: Tx, approval: Approval): Promise<void>
}

/** The call that decides; a held decision is made later, by the system. */
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
    if (kinds.has(kind.kind)) throw new Error(`two domains register the approval kind ${kind.kind}`)
    kinds.set(kind.kind, kind)
  }
  return {
    find: (name: string): ApprovalKind | undefined => kinds.get(name),
    get(name: string): ApprovalKind {
      const kind = kinds.get(name)
      if (!kind) throw new Error(`no domain registers the approval kind ${name}`)
      return kind
    },
  }
}
