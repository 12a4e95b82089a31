import { computeDigest, toSingleLine, toFingerprint } from '#approvals'
import type { Approval, Approvals, Binding, Mode, NewApproval, ClaimResult } from '#approvals'
import type { CallAttempt, RefuseVerdict } from '#base/call-check.ts'
import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import type { EntryIds } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call, RefusedResult, Tool } from '#base/tool.ts'
import { canonicalJson } from '#base/hash.ts'
import { extractFields } from './rules/fields.ts'
import { decideMode } from './rules/mode-decision.ts'
import type { ModeDecision, Rules } from './rules/mode-decision.ts'
import type { Permissions } from './permissions.ts'
import type { Effect, Policies } from './rules/policy.ts'
import { blockedByPolicy } from './proposals.ts'
import type { Proposals } from './proposals.ts'
import type { TrustService } from './trust-service.ts'
import type { GateProof } from './gate-proof.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'
import { initialTrust } from './rules/trust.ts'
import { schemaHash } from './schema-hash.ts'
import type { VolumeCap } from './volume-cap.ts'

/** Act, with what is to be done in the transactions around it; wait, and how to ask; or a rule forbids it. */
export type CallVerdict =
  | ({
      readonly mode: 'act'
      readonly decision?: Readonly<Record<string, unknown>>
      readonly ids?: EntryIds
      /** In the transaction that starts it. Gives the approval that it uses up, or that gave it a result already. */
      readonly enter?: (tx: Tx) => Promise<ClaimResult | undefined>
      /** In the transaction that ends it well. */
      readonly leave?: (tx: Tx, call: Call) => Promise<void>
    } & Binding)
  | ({
      readonly mode: 'wait'
      readonly digest: string
      readonly open: (tx: Tx, call: Call) => Promise<Approval>
    } & Binding)
  | RefuseVerdict

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly approvals: Pick<Approvals, 'open' | 'claim'>
  readonly permissions: Permissions
  readonly policies: () => Policies
  readonly policyFor: Proposals['policyFor']
  readonly scores: Pick<TrustService, 'load' | 'stayActive'>
  readonly gateProof: GateProof
  readonly spotChecks: SpotChecks
  readonly volume: VolumeCap
  readonly rules: Rules
  readonly everyWrite: boolean
  /** Of a call where nothing is known of the agent yet (M6). */
  readonly defaultMode: Mode
  /** The toolsets whose tools check their own writes: by workspace, grants, claims (Y9). */
  readonly guardedToolsets: readonly string[]
  readonly domainOf: DomainOf
  readonly now: Clock
}

export type DomainOf = ReturnType<typeof createDomainOf>

const act: CallVerdict = { mode: 'act' }

/** Decides intercepted calls: the same trust and policy as proposals, with the defaults of Y9. */
export function createCallAuthorizer(deps: Deps) {
  const { db, store, approvals, permissions, scores, gateProof, spotChecks, volume, rules } = deps
  const { domainOf, now } = deps

  /** Whether trust has a say in this call where no mapping names its domain (Y9). */
  function isJudged({ tool, input }: CallAttempt): boolean {
    if (tool.effect === 'read') return false
    if (deps.everyWrite || isHighRisk(tool, input)) return true
    return !deps.guardedToolsets.includes(tool.toolset)
  }

  function openingOf(
    attempted: CallAttempt,
    judgement: ModeDecision,
    digest: string,
    byTrust: boolean,
  ): Omit<NewApproval, 'policyVersion'> {
    const { tool, input, touch } = attempted
    const target = touch.target ?? ''
    return {
      kind: 'call',
      domain: domainOf(attempted),
      action: tool.name,
      target,
      summary: toSingleLine([tool.title, touch.shown ?? target].filter(Boolean).join(': ')),
      mode: judgement.mode,
      risk: judgement.risk,
      digest,
      trustLevel: judgement.trustLevel,
      confidence: null,
      content: {
        change: input,
        why: judgement.why,
        extra: {
          schema: schemaHash(tool),
          effect: tool.effect,
          title: tool.title,
          by_trust: byTrust,
        },
      },
    }
  }

  /** What a person, a rule or trust says to it; `act` where nobody has a say. */
  async function verdictOn(attempted: CallAttempt): Promise<CallVerdict> {
    const { tool, input, caller } = attempted
    const isRead = tool.effect === 'read'
    if (!deps.policies().isMapped && !isJudged(attempted)) return act
    const domain = domainOf(attempted)
    const { policies, policy, extra } = await deps.policyFor(db, caller, domain)
    const byTrust =
      isJudged(attempted) || (!isRead && !!policy && policies.names(caller.id, domain, extra))
    if (!policy && !byTrust) return act
    const evaluation = policies.evaluate(policy, extractFields(input), isRead)
    // Before any permission: that answers a question, and here there is none.
    if (evaluation.hardStop) return refusalOf(blockedByPolicy(policy, evaluation))
    const isAsked = asks(evaluation)
    if (!byTrust && !isAsked && !(evaluation.shadow && forbidsOrAsks(evaluation.shadow))) return act
    // In open mode anyone has any name, so what is known of that name says nothing of who calls (A3).
    const known = caller.verified ? await store.trust(db, caller.id, domain) : undefined
    const always = alwaysAsks(caller, deps.everyWrite && !isRead)
    const pair = { agent: caller.id, domain }
    const risk = isHighRisk(tool, input) ? 'high' : (policy?.risk ?? 'normal')
    const trust = known ?? initialTrust(rules.trust, now())
    const judgement = decideMode(rules, {
      trust,
      proof: await gateProof(db, pair, risk, tool.name),
      policy,
      evaluation,
      risk,
      at: now(),
      ...(always !== undefined && { always }),
      ...(!known && { atLeast: deps.defaultMode }),
      ...becauseOf(tool, input),
    })
    const { shadow } = judgement
    if (!byTrust && !isAsked)
      return { mode: 'act', decision: { mode: 'act', ...(shadow && { shadow }) } }

    const digest = digestOfCall(attempted)
    if (digest === undefined) return unreadable
    // One person allowed it: where more must agree, that is not enough (A4).
    const allowed =
      evaluation.approvers > 1
        ? undefined
        : await permissions.covering(db, caller, {
            tool: tool.name,
            args: input,
            risk: judgement.risk,
          })
    if (allowed)
      return {
        mode: 'act',
        decision: { mode: 'act', by: 'permission', permission: allowed.id },
        ids: { approval: allowed.approval },
        async enter(tx) {
          // What was approved for this very call goes first, or it would be left over for another one.
          const passage = await approvals.claim(tx, caller, digest)
          if (!passage) await permissions.use(tx, allowed, toActor(caller))
          return passage
        },
      }
    if (judgement.mode === 'act')
      return {
        mode: 'act',
        decision: {
          mode: 'act',
          by: 'trust',
          domain,
          risk,
          trust_level: judgement.trustLevel,
          evidence_level: judgement.evidenceLevel,
          policy_version: policies.version,
          ...(shadow && { shadow }),
        },
        enter: (tx) => approvals.claim(tx, caller, digest),
        async leave(tx, { id }) {
          // Else its trust would be on record with its first check, which tells of it (T14).
          if (!known) await scores.load(tx, pair)
          await scores.stayActive(tx, pair, trust)
          spotChecks.note({ ...pair, id, risk, trust, client: caller.client?.name })
        },
      }
    if (JSON.stringify(input).length > mostAsked) return tooLargeToShow(tool)
    const fingerprint = await fingerprintOf(attempted)
    return {
      mode: 'wait',
      digest,
      fingerprint,
      requiredApprovals: evaluation.approvers,
      async open(tx, call) {
        await scores.load(tx, pair)
        const { refused } = await volume.take(tx, pair)
        if (refused) throw new CoworkError(refused.code, refused.message, refused)
        return approvals.open(tx, caller, call.id, {
          ...openingOf(attempted, judgement, digest, byTrust),
          policyVersion: policies.version,
          requiredApprovals: evaluation.approvers,
          fingerprint,
          ...(shadow && { details: { shadow } }),
        })
      },
    }
  }

  return async function decide(attempted: CallAttempt): Promise<CallVerdict> {
    const { tool, caller } = attempted
    // Declaring, logging and asking are how an agent obeys.
    if (caller.kind !== 'agent' || tool.toolset === 'cowork' || tool.isRequestOnly) return act
    try {
      const verdict = await verdictOn(attempted)
      if (attempted.approval === undefined || verdict.mode !== 'act') return verdict
      // Trust or a permission would do by now; what was approved is compared all the same (A15).
      return {
        ...verdict,
        digest: digestOfCall(attempted),
        fingerprint: await fingerprintOf(attempted),
      }
    } catch (error) {
      // A policy that cannot be read, or arguments that cannot be judged: a refusal, never a pass (A11).
      if (error instanceof CoworkError) return refusalOf(error)
      throw error
    }
  }
}

const refusalOf = ({
  code,
  message,
  hint = '',
  details,
}: RefusedResult | CoworkError): CallVerdict => ({
  mode: 'refuse',
  code,
  message,
  hint,
  details,
})

export const isHighRisk = (tool: Tool, input: CallAttempt['input']) =>
  tool.effect === 'destructive' || Boolean(tool.isRisky?.(input))

function becauseOf(tool: Tool, input: CallAttempt['input']) {
  const reason = tool.isRisky?.(input)
  return typeof reason === 'string' && reason !== '' ? { because: reason } : {}
}

function alwaysAsks({ verified }: Caller, isEvery: boolean): string | undefined {
  if (isEvery) return 'every write asks here (approvals.every_write)'
  return verified ? undefined : 'in open mode nobody knows who calls'
}

const asks = ({ highRisk, approvers, isUnreadable }: Effect) =>
  highRisk.length > 0 || approvers > 1 || isUnreadable
const forbidsOrAsks = (effect: Effect) => effect.hardStop || asks(effect)

/** Of cowork's own tools it is not for the arguments to say under whose rules they are. */
export const createDomainOf =
  (guardedToolsets: readonly string[]) =>
  ({ tool, touch }: Pick<CallAttempt, 'tool' | 'touch'>): string =>
    guardedToolsets.includes(tool.toolset) ? tool.toolset : touch.domain

/** The arguments of a call, so that calls which differ only in how they write a path are one call (A1). */
export const canonicalOf = ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): unknown =>
  tool.canonicalInput?.(input) ?? input

/** The state of what the call would change; undefined where that cannot be read (A15). */
async function fingerprintOf({ tool, input, caller }: CallAttempt): Promise<string | undefined> {
  try {
    const states = await tool.fingerprint?.(input, caller)
    return states && toFingerprint(states)
  } catch (error) {
    if (error instanceof CoworkError) return undefined
    throw error
  }
}

/** Of the canonical arguments; what is no JSON text has none. */
function digestOfCall({ tool, input, caller, touch: { target = '' } }: CallAttempt) {
  try {
    const content: unknown = JSON.parse(canonicalJson(canonicalOf({ tool, input })))
    if (target.includes('\0') || !target.isWellFormed()) return undefined
    const schema = schemaHash(tool)
    return computeDigest({ agent: caller.id, action: tool.name, target, content, schema })
  } catch {
    return undefined
  }
}

const unreadable: CallVerdict = {
  mode: 'refuse',
  code: 'invalid_input',
  message: 'A person cannot be asked about these arguments: they hold what is no text.',
  hint: 'Leave out NUL and halves of characters (lone surrogates).',
}

/** In characters: nobody reads more before they decide, and the approval keeps all of it. */
const mostAsked = 1_000_000

const tooLargeToShow = ({ name }: Tool): CallVerdict => ({
  mode: 'refuse',
  code: 'too_large',
  message: `A person decides about this call of ${name} first, and it is too large to show.`,
  hint: 'Do it in smaller parts, or ask the person to do it.',
})
