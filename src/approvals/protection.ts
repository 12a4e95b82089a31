import { createHmac } from 'node:crypto'
import { createCipher } from '#base/cipher.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { Redact } from '#ledger'
import type { Approval, ApprovalContent, NewApproval } from './model.ts'

export type ProtectionDeps = {
  readonly redact: Redact
  /** 32 bytes that only daemons with the signing key can derive. */
  readonly key: Buffer
}

/** The unredacted call to execute: the agent's request, or a person's edit of it. */
export type ExecutableCall = {
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly field?: string | undefined
}

type ShownFields = Pick<Approval, 'action' | 'target' | 'summary' | 'content'>
type SealableFields = ShownFields & Pick<Approval, 'id' | 'digest'>

/** A call has at most a million characters; redaction adds a few. */
const maxShownLength = 4_000_000

export type Protection = ReturnType<typeof createProtection>

/**
 * Redacts credentials in stored and displayed approvals and encrypts the arguments that will run.
 */
export function createProtection({ redact, key }: ProtectionDeps) {
  const cipher = createCipher(key)
  const redactForDisplay = (value: unknown) => redact.withLimit(value, maxShownLength)

  /**
   * `extra` stays unchanged: it belongs to the module that opened the approval, and its paths must
   * stay valid.
   */
  function showContent(content: ApprovalContent): ApprovalContent {
    const { change, reasoning, field, why } = content
    return {
      ...content,
      change: redactForDisplay(change),
      ...(reasoning !== undefined && { reasoning: redact(reasoning) }),
      ...(field !== undefined && { field: redact(field) }),
      why: {
        ...why,
        text: redact(why.text),
        rules: redactForDisplay(why.rules) as unknown as typeof why.rules,
        high_risk_fields: why.high_risk_fields.map((name) => redact(name)),
      },
    }
  }

  /**
   * Binds the encrypted arguments to the displayed copy, so a modified copy cannot be approved for
   * other arguments.
   */
  const associatedData = (
    part: string,
    { id, digest, action, target, summary, content }: SealableFields,
  ) =>
    JSON.stringify([
      part,
      id,
      digest,
      sha256Hex(JSON.stringify([action, target, summary, content])),
    ])

  const isAgentAction = (kind: string) => kind === 'proposal' || kind === 'spot_check'

  return {
    redactForDisplay,

    /** Returns the redacted copy that is stored in plain text and shown to people and agents. */
    toShown: ({
      kind,
      action,
      target,
      summary,
      content,
    }: ShownFields & Pick<NewApproval, 'kind'>): ShownFields => ({
      action: isAgentAction(kind) ? redact(action) : action,
      target: redact(target),
      summary: redact(summary),
      content: showContent(content),
    }),

    sealCall: (
      approval: SealableFields,
      { action, target, change, field }: ExecutableCall,
    ): string =>
      cipher.seal(
        JSON.stringify({ action, target, change, field }),
        associatedData('act', approval),
      ),

    /**
     * Decrypts the arguments. Throws if they were deleted, or if the store was modified outside
     * cowork.
     */
    openCall(approval: Approval): ExecutableCall {
      if (approval.sealed === undefined) throw argumentsGoneError(approval)
      const text = cipher.open(approval.sealed, associatedData('act', approval))
      if (text === undefined) throw argumentsChangedError(approval)
      return JSON.parse(text) as ExecutableCall
    },

    sealChange: (approval: Approval, change: unknown): string =>
      cipher.seal(JSON.stringify(change), associatedData('held', approval)),
    openChange(approval: Approval, sealed: string): unknown {
      const text = cipher.open(sealed, associatedData('held', approval))
      if (text === undefined) throw argumentsChangedError(approval)
      return JSON.parse(text)
    },

    sealResult: (id: string, result: string): string => cipher.seal(result, `result ${id}`),
    openResult(id: string, sealed: string): unknown {
      const text = cipher.open(sealed, `result ${id}`)
      return text === undefined ? unreadableResult : JSON.parse(text)
    },

    /**
     * Returns a keyed hash that identifies a value. Without the key, values cannot be guessed from
     * it.
     */
    fingerprint: (name: string, value: unknown): string =>
      createHmac('sha256', key)
        .update(`${name}\0${canonicalJson(value)}`)
        .digest('base64'),
  }
}

const unreadableResult = {
  status: 'failed',
  code: 'result_unreadable',
  message: 'Stored result unreadable: it was modified outside cowork.',
}

const argumentsGoneError = ({ id }: Approval) =>
  new CoworkError('arguments_gone', `Arguments of approval ${id} were deleted.`, {
    hint: 'Call the tool again with the arguments to request a new approval.',
  })

const argumentsChangedError = ({ id }: Approval) =>
  new CoworkError(
    'arguments_changed',
    `Approval ${id} was modified in the store: its encrypted arguments do not match the displayed request.`,
    { hint: 'Reject the approval, let the agent ask again, and check who can write to the store.' },
  )
