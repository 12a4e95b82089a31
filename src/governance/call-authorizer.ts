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

/** The verdict on a call: act, with work for the transactions around it; wait, with the request to open; or refuse. */
export type CallVerdict =
  | ({
      readonly mode: 'act'
      readonly decision?: Readonly<Record<string, unknown>>
      readonly ids?: EntryIds
      /**
       * Runs in the transaction that starts the call. Returns the approval that the call uses, or whose result it
       * gets.
       */
      readonly enter?: (tx: Tx) => Promise<ClaimResult | undefined>
      /** Runs in the transaction that ends the call successfully. */
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
  /** Minimum mode of a call by an agent without trust (M6). */
  readonly defaultMode: Mode
  /** Toolsets whose tools check their own writes by workspace, grants or claims (Y9). */
  readonly guardedToolsets: readonly string[]
  readonly resolveDomain: ResolveDomain
  readonly now: Clock
}

export type ResolveDomain = ReturnType<typeof createDomainResolver>

const act: CallVerdict = { mode: 'act' }

/** Authorizes intercepted calls with the trust and policies of proposals and the defaults of Y9. */
export function createCallAuthorizer(deps: Deps) {
  const { db, store, approvals, permissions, scores, gateProof, spotChecks, volume, rules } = deps
  const { resolveDomain, now } = deps

  /** True if trust decides about this call even without a mapping for its domain (Y9). */
  function isTrustRequired({ tool, input }: CallAttempt): boolean {
    if (tool.effect === 'read') return false
    if (deps.everyWrite || isHighRisk(tool, input)) return true
    return !deps.guardedToolsets.includes(tool.toolset)
  }

  function buildOpening(
    attempted: CallAttempt,
    judgement: ModeDecision,
    digest: string,
    byTrust: boolean,
  ): Omit<NewApproval, 'policyVersion'> {
    const { tool, input, touch } = attempted
    const target = touch.target ?? ''
    return {
      kind: 'call',
      domain: resolveDomain(attempted),
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

  /** Evaluates policy, permissions and trust; `act` if none applies. */
  async function evaluateCall(attempted: CallAttempt): Promise<CallVerdict> {
    const { tool, input, caller } = attempted
    const isRead = tool.effect === 'read'
    if (!deps.policies().isMapped && !isTrustRequired(attempted)) return act
    const domain = resolveDomain(attempted)
    const { policies, policy, extra } = await deps.policyFor(db, caller, domain)
    const byTrust =
      isTrustRequired(attempted) ||
      (!isRead && !!policy && policies.names(caller.id, domain, extra))
    if (!policy && !byTrust) return act
    const evaluation = policies.evaluate(policy, extractFields(input), isRead)
    // A hard stop precedes any permission: a permission replaces an approval, not a rule.
    if (evaluation.hardStop) return toRefusal(blockedByPolicy(policy, evaluation))
    const isAsked = needsApproval(evaluation)
    if (!byTrust && !isAsked && !(evaluation.shadow && hasEffect(evaluation.shadow))) return act
    // With authentication off, any caller can use any name, so the trust of that name does not apply (A3).
    const stored = caller.verified ? await store.trust(db, caller.id, domain) : undefined
    const always = approvalReason(caller, deps.everyWrite && !isRead)
    const pair = { agent: caller.id, domain }
    const risk = isHighRisk(tool, input) ? 'high' : (policy?.risk ?? 'normal')
    const trust = stored ?? initialTrust(rules.trust, now())
    const judgement = decideMode(rules, {
      trust,
      proof: await gateProof(db, pair, risk, tool.name),
      policy,
      evaluation,
      risk,
      at: now(),
      ...(always !== undefined && { always }),
      ...(!stored && { atLeast: deps.defaultMode }),
      ...riskReason(tool, input),
    })
    const { shadow } = judgement
    if (!byTrust && !isAsked)
      return { mode: 'act', decision: { mode: 'act', ...(shadow && { shadow }) } }

    const digest = computeCallDigest(attempted)
    if (digest === undefined) return unreadableArguments
    // One person granted the permission: that is not enough where several must approve (A4).
    const allowed =
      evaluation.approvers > 1
        ? undefined
        : await permissions.findCovering(db, caller, {
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
          // Use the approval of this very call first; otherwise it would remain for another call.
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
          // Otherwise the ledger would record the trust with the first check, which reveals the check (T14).
          if (!stored) await scores.load(tx, pair)
          await scores.stayActive(tx, pair, trust)
          spotChecks.note({ ...pair, id, risk, trust, client: caller.client?.name })
        },
      }
    if (JSON.stringify(input).length > maxArgumentsLength) return tooLargeToShow(tool)
    const fingerprint = await computeFingerprint(attempted)
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
          ...buildOpening(attempted, judgement, digest, byTrust),
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
    // Proposing, logging and requesting are always allowed: with them an agent follows the rules.
    if (caller.kind !== 'agent' || tool.toolset === 'cowork' || tool.isRequestOnly) return act
    try {
      const verdict = await evaluateCall(attempted)
      if (attempted.approval === undefined || verdict.mode !== 'act') return verdict
      // Trust or a permission is enough now; the call is still compared with the approved one (A15).
      return {
        ...verdict,
        digest: computeCallDigest(attempted),
        fingerprint: await computeFingerprint(attempted),
      }
    } catch (error) {
      // An unreadable policy or unreadable arguments refuse the call and never allow it (A11).
      if (error instanceof CoworkError) return toRefusal(error)
      throw error
    }
  }
}

const toRefusal = ({
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

function riskReason(tool: Tool, input: CallAttempt['input']) {
  const reason = tool.isRisky?.(input)
  return typeof reason === 'string' && reason !== '' ? { because: reason } : {}
}

function approvalReason({ verified }: Caller, isEvery: boolean): string | undefined {
  if (isEvery) return 'every write needs approval (approvals.every_write)'
  return verified ? undefined : 'the caller is unverified (authentication is off)'
}

const needsApproval = ({ highRisk, approvers, isUnreadable }: Effect) =>
  highRisk.length > 0 || approvers > 1 || isUnreadable
const hasEffect = (effect: Effect) => effect.hardStop || needsApproval(effect)

/** Arguments must not choose the policy: a tool of a guarded toolset has the domain of its toolset. */
export const createDomainResolver =
  (guardedToolsets: readonly string[]) =>
  ({ tool, touch }: Pick<CallAttempt, 'tool' | 'touch'>): string =>
    guardedToolsets.includes(tool.toolset) ? tool.toolset : touch.domain

/** Returns the arguments in canonical form, so that calls differing only in path spelling are one call (A1). */
export const canonicalInput = ({ tool, input }: Pick<CallAttempt, 'tool' | 'input'>): unknown =>
  tool.canonicalInput?.(input) ?? input

/** Fingerprints the state that the call would change; undefined if that state cannot be read (A15). */
async function computeFingerprint({
  tool,
  input,
  caller,
}: CallAttempt): Promise<string | undefined> {
  try {
    const states = await tool.fingerprint?.(input, caller)
    return states && toFingerprint(states)
  } catch (error) {
    if (error instanceof CoworkError) return undefined
    throw error
  }
}

/** Hashes the canonical arguments; undefined for arguments that are not JSON text. */
function computeCallDigest({ tool, input, caller, touch: { target = '' } }: CallAttempt) {
  try {
    const content: unknown = JSON.parse(canonicalJson(canonicalInput({ tool, input })))
    if (target.includes('\0') || !target.isWellFormed()) return undefined
    const schema = schemaHash(tool)
    return computeDigest({ agent: caller.id, action: tool.name, target, content, schema })
  } catch {
    return undefined
  }
}

const unreadableArguments: CallVerdict = {
  mode: 'refuse',
  code: 'invalid_input',
  message: 'Invalid arguments: they contain characters that are not text.',
  hint: 'Remove NUL and lone surrogates.',
}

/** In characters: nobody reads more before a decision, and the approval stores all of it. */
const maxArgumentsLength = 1_000_000

const tooLargeToShow = ({ name }: Tool): CallVerdict => ({
  mode: 'refuse',
  code: 'too_large',
  message: `This call of ${name} needs approval and is too large to review.`,
  hint: 'Split the call into smaller ones, or hand the task to a person.',
})
