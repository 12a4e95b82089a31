import { createHmac } from 'node:crypto'
import { createCipher } from '#base/cipher.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import type { Redact } from '#ledger'
import type { Approval, ApprovalContent, NewApproval } from './model.ts'

export type ProtectionDeps = {
  readonly redact: Redact
  /** 32 bytes that only daemons with the signing key have. */
  readonly key: Buffer
}

/** The act as it runs, without redaction: what the agent asked for, or what a person approved instead. */
export type ExecutableCall = {
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly field?: string | undefined
}

type ShownFields = Pick<Approval, 'action' | 'target' | 'summary' | 'content'>
type SealableFields = ShownFields & Pick<Approval, 'id' | 'digest'>

/** A call of up to a million characters can wait for a person; redaction adds a little. */
const maxShownLength = 4_000_000

export type Protection = ReturnType<typeof createProtection>

/** Keeps credentials out of what approvals store and show; encrypts the arguments that still have to run. */
export function createProtection({ redact, key }: ProtectionDeps) {
  const cipher = createCipher(key)
  const redactForDisplay = (value: unknown) => redact.upTo(value, maxShownLength)

  /** `more` belongs to the module that opened the approval; paths in it have to stay as they are. */
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

  /** Bound to what people see, so that a changed copy cannot be approved for other arguments. */
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

    /** The copy that is stored in clear and shown to people and agents. */
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

    /** Throws where the arguments are gone, or the store was changed by something else than cowork. */
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

    /** Recognizes a value without storing it. Without the key nobody can try values against it. */
    fingerprint: (name: string, value: unknown): string =>
      createHmac('sha256', key)
        .update(`${name}\0${canonicalJson(value)}`)
        .digest('base64'),
  }
}

const unreadableResult = {
  status: 'failed',
  code: 'result_unreadable',
  message: 'The stored result was changed and cannot be read.',
}

const argumentsGoneError = ({ id }: Approval) =>
  new CoworkError('arguments_gone', `The arguments of approval ${id} are deleted.`, {
    hint: 'Call the tool again with the arguments: a person is asked again.',
  })

const argumentsChangedError = ({ id }: Approval) =>
  new CoworkError(
    'arguments_changed',
    `Approval ${id} was changed in the store: its encrypted arguments do not belong to what is shown.`,
    { hint: 'Reject it and let the agent ask again; find out who can write to the store.' },
  )
