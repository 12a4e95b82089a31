import { requesterFilter, computeDigest, toSingleLine } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import { isOwnRecord } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { newId } from '#base/ids.ts'
import { isRecord } from '#base/json.ts'
import { RefusedResult } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import { extractFields } from './rules/fields.ts'
import type { Handoffs } from './handoffs/handoffs.ts'
import { decideMode, plainWhy } from './rules/mode-decision.ts'
import type { Rules } from './rules/mode-decision.ts'
import type { Evaluation, Mapping, Policies, Policy } from './rules/policy.ts'
import type { Assessment, Reasonings } from './policies/policy-assessment.ts'
import type { Reasoning } from './tools/propose.ts'
import type { TrustKey, TrustService } from './trust-service.ts'
import { evidenceNote } from './gate-proof.ts'
import type { GateProof } from './gate-proof.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'
import { closedGate, trustForCaller, applyDecay, initialTrust } from './rules/trust.ts'
import type { VolumeCap } from './volume-cap.ts'
import { checkCall, logCall } from './next-call.ts'
import { isPendingLimitReached, maxPendingRequests, pendingLimitHint } from './volume-cap.ts'

export type Proposal = {
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly confidence: number
  readonly reasoning: string
  readonly field?: string | undefined
  readonly key?: string | undefined
  /** The reasoning in a form that cowork can verify (R1). */
  readonly criteria?: Reasoning | undefined
  /** The handoff that this proposal follows from: its instructions are acknowledged (H3). */
  readonly handoff?: string | undefined
}

/** The reply of the COWORK protocol to a proposal (P2). */
export type ProposalReply = ReturnType<typeof buildReply>

type Deps = {
  readonly store: GovernanceStore
  readonly approvals: Approvals
  readonly policies: () => Policies
  readonly scores: TrustService
  readonly spotChecks: SpotChecks
  readonly gateProof: GateProof
  readonly volume: VolumeCap
  readonly handoffs: Pick<Handoffs, 'acknowledgeByProposal'>
  readonly reasonings: Reasonings
  readonly rules: Rules
  readonly now: Clock
}

type Named = Pick<Caller, 'id' | 'since'>

export type Proposals = ReturnType<typeof createProposals>

export function createProposals(deps: Deps) {
  const { store, approvals, scores, spotChecks, gateProof, volume, reasonings, rules, now } = deps

  /**
   * Finds the policy of an agent in a domain; with mappings and none that matches, nothing may be proposed (Y4).
   * Returns the policy set too: another may be active by the time it is used.
   */
  async function policyFor(reader: Reader, agent: Named, domain: string) {
    const policies = deps.policies()
    const found = policies.find(agent.id, domain)
    if (found || !policies.isMapped)
      return { policies, policy: found, isMapped: found !== undefined, extra: [] }
    const extra = await approvedMappings(reader, agent)
    const policy = policies.find(agent.id, domain, extra)
    return { policies, policy, isMapped: policy !== undefined, extra }
  }

  /** Lists approved mappings, without those of a former agent of the same name. */
  const approvedMappings = async (reader: Reader, named?: Named): Promise<Mapping[]> =>
    (await store.mappings(reader))
      .filter(({ agent, at }) => agent !== named?.id || isOwnRecord(named, agent, at))
      .map(({ agent, domain, policy }) => ({ agent_id: agent, domain, policy_id: policy }))

  async function propose(
    tx: Tx,
    proposal: Proposal,
    call: Call,
  ): Promise<ProposalReply | RefusedResult> {
    const { domain, action, target, change, confidence, reasoning, field, key } = proposal
    const agent = call.caller.id
    const pair = { agent, domain }
    const digest = computeDigest({ agent, action, target, content: change })
    const body = key === undefined ? undefined : sha256Hex(canonicalJson(toPlainJson(proposal)))
    const findExisting = () => findByKey(tx, call.caller, domain, key, body)
    const known = await findExisting()
    if (known) return known
    const { policies, policy, isMapped } = await policyFor(tx, call.caller, domain)
    if (!isMapped && policies.isMapped)
      return refuseUnmapped(
        tx,
        proposal,
        call,
        policies.version,
        await getStanding(tx, pair, action),
      )
    const fields = extractFields(change, field)
    const evaluation = policies.evaluate(policy, fields)
    if (evaluation.hardStop)
      return blockedByPolicy(policy, evaluation, await getStanding(tx, pair, action))
    const given = proposal.criteria
    const reasoned = reasonings.isNeeded(policy, given)
      ? await reasonings.check(tx, { by: call.caller, policy, reasoning: given, at: now() })
      : undefined

    const admitted =
      // No limit can refuse the proposal, so no lock is needed.
      volume.isFree && key === undefined
        ? { ...(await scores.begin(tx, pair)), remaining: null }
        : await admit(tx, pair, findExisting)
    if ('instead' in admitted) return admitted.instead
    const { trust, remaining, faded } = admitted
    const floor = reasoned && reasonings.getFloor(policy, reasoned)
    const isShadow = policy?.mode === 'shadow'
    const ownRisk = policy?.risk ?? 'normal'
    const judgement = decideMode(rules, {
      trust: trustForCaller(call.caller, trust),
      proof: await gateProof(tx, pair, ownRisk, action),
      policy,
      evaluation,
      risk: ownRisk,
      at: now(),
      ...(floor && isShadow && { shadowFloor: floor }),
      ...(floor &&
        !isShadow && {
          atLeast: floor,
          always: 'its reasoning does not meet the policy',
        }),
    })
    const { mode, risk, why, shadow } = judgement
    const id = newId()
    const approval = await approvals.open(tx, call.caller, call.id, {
      id,
      kind: 'proposal',
      domain,
      action,
      target,
      summary: summarize(proposal, approvals.redactForDisplay),
      mode,
      risk,
      digest,
      policyVersion: policies.version,
      trustLevel: judgement.trustLevel,
      confidence,
      requiredApprovals: evaluation.approvers,
      content: {
        change,
        reasoning,
        ...(field !== undefined && { field }),
        why: {
          ...why,
          more: {
            ...why.more,
            rules_checked: evaluation.rulesChecked,
            rules_matched: evaluation.rulesMatched,
            warnings: evaluation.warnings,
            mapping_found: isMapped,
            ...(reasoned && { reasoning: reasoned }),
          },
        },
        extra: {
          action_id: newId(),
          ...(given && { reasoning_schema: approvals.redactForDisplay(given) }),
          ...(proposal.handoff !== undefined && { handoff_id: proposal.handoff }),
        },
      },
      ...(key !== undefined && body !== undefined && { key: { name: key, digest: body } }),
      ...(mode === 'act' && { auto: true }),
      isCall: true,
      ...((shadow || reasoned || faded) && {
        details: {
          ...(shadow && { shadow }),
          ...(reasoned && { reasoning_valid: reasoned.valid }),
          ...faded,
        },
      }),
    })
    if (proposal.handoff !== undefined)
      await deps.handoffs.acknowledgeByProposal(tx, proposal.handoff, id, call)
    if (mode === 'act')
      spotChecks.note({ ...pair, id, risk, trust, client: call.caller.client?.name })
    return buildReply(approval, { cap: volume.cap, remaining }, approvals)
  }

  /** Locks the trust record and restarts its idle clock, unless the proposal exists already or exceeds a cap. */
  async function admit(tx: Tx, pair: TrustKey, before: () => Promise<ProposalReply | undefined>) {
    const trust = await scores.load(tx, pair)
    // Another daemon may have used the same key before the lock was acquired.
    const again = await before()
    if (again) return { instead: again }
    const { used, faded } = await scores.touch(tx, pair, trust, volume.since())
    const { remaining, refused } = await volume.next(tx, pair, used)
    if (!refused) return { trust, remaining, ...(faded && { faded }) }
    await scores.save(tx, pair, trust)
    return { instead: refused }
  }

  /** The same key of the same agent returns the same proposal, or an error (P6). */
  async function findByKey(tx: Tx, by: Caller, domain: string, key?: string, body?: string) {
    if (key === undefined) return undefined
    const found = await approvals.byKey(tx, by.id, key)
    if (!found) return undefined
    const { id, requester, createdAt } = found.approval
    if (!isOwnRecord(by, requester, createdAt)) {
      await approvals.releaseKey(tx, id)
      return undefined
    }
    if (found.digest !== body) throw idempotencyError(key)
    const remaining = await volume.left(tx, { agent: by.id, domain })
    return buildReply(found.approval, { cap: volume.cap, remaining }, approvals)
  }

  /** No silent fallback: blocks the agent and asks a person whether it may work in the domain (Y4). */
  async function refuseUnmapped(
    tx: Tx,
    proposal: Proposal,
    call: Call,
    policyVersion: string,
    standing: Details,
  ): Promise<RefusedResult> {
    const { domain } = proposal
    const agent = call.caller.id
    const [waiting] = await approvals.pendingLike(tx, {
      kind: 'permission',
      ...requesterFilter(call.caller),
      domain,
    })
    const isFull = !waiting && (await isPendingLimitReached(store, tx, 'permission', call.caller))
    const blockedHere = { ...noMapping, ...standing }
    if (isFull)
      return new RefusedResult(
        'too_many_requests',
        `BLOCKED: no policy covers ${agent} in ${domain}, and ${maxPendingRequests} of your requests for new domains are pending already.`,
        { hint: pendingLimitHint, details: blockedHere },
      )
    const approval =
      waiting ??
      (await approvals.open(tx, call.caller, call.id, {
        kind: 'permission',
        domain,
        action: 'work_in_domain',
        target: domain,
        summary: toSingleLine(`May ${agent} work in ${domain}? No policy covers this domain.`),
        mode: 'escalate',
        risk: 'normal',
        digest: computeDigest({ agent, action: 'work_in_domain', target: domain, content: null }),
        policyVersion,
        trustLevel: null,
        confidence: null,
        content: {
          change: { action: proposal.action, target: proposal.target, change: proposal.change },
          reasoning: proposal.reasoning,
          why: plainWhy(
            rules.mode,
            `You are asked because no mapping covers ${agent} in ${domain}, and without one the agent cannot propose there.`,
          ),
        },
      }))
    return new RefusedResult('policy_blocked', `BLOCKED: no policy covers ${agent} in ${domain}.`, {
      hint: `Approval requested: ${approvals.reviewUrl(approval.id)}. Propose again after it is approved.`,
      details: {
        ...blockedHere,
        approval_id: approval.id,
        review_url: approvals.reviewUrl(approval.id),
      },
    })
  }

  /** Returns the trust and gate that would have decided; the refusal records them for replays (Y6). */
  async function getStanding(tx: Tx, pair: TrustKey, action: string): Promise<Details> {
    const known =
      (await store.trust(tx, pair.agent, pair.domain)) ?? initialTrust(rules.trust, now())
    const trust = applyDecay(rules.trust, known, now())
    const proof = await gateProof(tx, pair, 'normal', action)
    return {
      trust_level: trust.score,
      gate_open: closedGate(rules.trust, trust, 'normal', proof) === undefined,
    }
  }

  return { propose, policyFor, approvedMappings }
}

type Details = Readonly<Record<string, unknown>>

const noMapping: Details = {
  error: true,
  policy_error: true,
  blocked: true,
  mode: 'escalate',
  mapping_found: false,
  policy_id: null,
  policy_warnings: 0,
  violations: [],
}

export function blockedByPolicy(
  policy: Policy | undefined,
  { violations, ...evaluation }: Evaluation,
  standing: Details = {},
): RefusedResult {
  const [first] = violations.filter(({ severity }) => severity === 'hard_stop')
  return new RefusedResult(
    'policy_blocked',
    `BLOCKED by ${policy?.id ?? 'policy'}: ${first ? `${first.field}: ${first.reason}` : 'a rule'}`,
    {
      hint: 'Change the value that the rule checks, or hand the task to a person.',
      details: {
        error: true,
        policy_error: true,
        blocked: true,
        policy_id: policy?.id ?? null,
        policy_description: policy?.description ?? null,
        policy_rules_checked: evaluation.rulesChecked,
        rules_matched: evaluation.rulesMatched,
        policy_warnings: violations.length,
        mapping_found: policy !== undefined,
        violations,
        ...standing,
      },
    },
  )
}

function buildReply(
  approval: Approval,
  { cap, remaining }: { cap: number; remaining: number | null },
  { reviewUrl }: Pick<Approvals, 'reviewUrl'>,
) {
  const { id, mode, trustLevel, confidence, content, status } = approval
  const { why, extra } = content
  const getNumber = (name: string) => why.more?.[name] as number
  const trust = trustLevel ?? 0
  const reasoned = why.more?.['reasoning'] as Assessment | undefined
  return {
    proposal_id: id,
    action_id: String(extra?.['action_id']),
    mode,
    status,
    trust_level: trust,
    confidence: confidence ?? 0,
    high_risk_field: why.high_risk_fields.length > 0,
    policy_warnings: getNumber('warnings'),
    policy_id: why.policy_id,
    policy_description: why.policy_description,
    policy_rules_checked: getNumber('rules_checked'),
    rules_matched: getNumber('rules_matched'),
    mapping_found: why.more?.['mapping_found'] === true,
    volume_cap: cap,
    volume_remaining: remaining,
    evidence_level: Math.round((why.evidence_level ?? 0) * 10_000) / 10_000,
    gated: why.gated,
    ...(why.gated && { to_go: getNumber('to_go'), evidence_note: evidenceNote }),
    ...(reasoned && {
      reasoning_valid: reasoned.valid,
      missing_criteria: [...reasoned.missing],
      stale_criteria: [...reasoned.stale],
      unverified_sources: [...reasoned.unverified],
      reasoning_problems: [...reasoned.problems],
    }),
    message: formatMessage(approval),
    next: nextStep(approval),
    ...(mode !== 'act' && { review_url: reviewUrl(id) }),
  }
}

function formatMessage({ id, mode, trustLevel, content: { why } }: Approval): string {
  const trust = trustLevel ?? 0
  if (mode === 'act') return `AUTO-APPROVED: Trust (${trust.toFixed(2)}) sufficient.`
  if (mode === 'suggest') return `AWAITING REVIEW: Proposal ${id}`
  const isLow = trust < why.thresholds.suggest
  const cause = isLow ? `Trust (${trust.toFixed(2)}) too low` : 'Reasoning incomplete'
  return `ESCALATED: ${cause}. Proposal ${id}`
}

/** The next step of the agent (RA2). */
function nextStep(approval: Approval): string {
  if (approval.mode === 'act')
    return `Carry out the action now, exactly as proposed. Then call ${logCall(approval)}.`
  // The idempotency key was used before (P6).
  if (approval.status !== 'pending')
    return `A person has decided. Call ${checkCall(approval)} and follow its answer.`
  return `NOT APPROVED YET. Do not carry out the action, not even with other tools. Call ${checkCall(approval)}, or go on with other work.`
}

/** Summarizes the proposal for the inbox, in the words of the agent. */
function summarize(
  { action, target, change }: Proposal,
  show: Approvals['redactForDisplay'],
): string {
  const entries = isRecord(change) ? Object.entries(change) : []
  const [first] = entries
  if (!first || first[0] === 'raw') return toSingleLine(`${action} on ${target}`)
  const [name, value] = first
  // Redacted with its name: only the name may reveal that the value is a credential.
  const [[label, clean] = []] = Object.entries(show({ [name]: value }) as object)
  const shown = typeof clean === 'string' ? clean : JSON.stringify(clean)
  const more = entries.length > 1 ? ` (+${entries.length - 1})` : ''
  return toSingleLine(`${action} on ${target}: ${label} = ${shown}${more}`)
}

const idempotencyError = (key: string) =>
  new CoworkError(
    'idempotency_conflict',
    `The idempotency_key ${JSON.stringify(key)} was already used for another proposal.`,
    { hint: 'Repeat the same proposal with this key, or use a new key.' },
  )

const toPlainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
