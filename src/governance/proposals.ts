import { digestOf, oneLine } from '#approvals'
import type { Approval, Approvals } from '#approvals'
import type { Clock } from '#base/clock.ts'
import type { Reader, Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { newId } from '#base/ids.ts'
import { Refused } from '#base/tool.ts'
import type { Call } from '#base/tool.ts'
import { fieldsOf } from './fields.ts'
import { judge } from './judge.ts'
import type { Rules } from './judge.ts'
import type { Evaluation, Policies, Policy } from './policy.ts'
import type { Scores } from './scores.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'
import { newTrust, touched } from './trust.ts'
import type { Volume } from './volume.ts'

export type Proposal = {
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly confidence: number
  readonly reasoning: string
  readonly field?: string | undefined
  readonly key?: string | undefined
}

/** What seed 001 answers to a proposal (P2). */
export type Reply = ReturnType<typeof replyOf>

type Deps = {
  readonly store: GovernanceStore
  readonly approvals: Approvals
  readonly policies: Policies
  readonly scores: Scores
  readonly spotChecks: SpotChecks
  readonly volume: Volume
  readonly rules: Rules
  readonly now: Clock
}

export type Proposals = ReturnType<typeof createProposals>

export function createProposals(deps: Deps) {
  const { store, approvals, policies, scores, spotChecks, volume, rules, now } = deps

  /** The policy of this pair; where mappings exist and none fits, nothing may be proposed (Y4). */
  async function policyFor(reader: Reader, agent: string, domain: string) {
    const found = policies.find(agent, domain)
    if (found || !policies.isMapped) return { policy: found, isMapped: found !== undefined }
    const rows = await store.mappings(reader)
    const extra = rows.map((row) => ({
      agent_id: row.agent,
      domain: row.domain,
      policy_id: row.policy,
    }))
    const policy = policies.find(agent, domain, extra)
    return { policy, isMapped: policy !== undefined }
  }

  async function propose(tx: Tx, proposal: Proposal, call: Call): Promise<Reply | Refused> {
    const { domain, action, target, change, confidence, reasoning, field, key } = proposal
    const agent = call.caller.id
    const body = key === undefined ? undefined : sha256Hex(canonicalJson(jsonOf(proposal)))
    if (key !== undefined) {
      const before = await approvals.byKey(tx, agent, key)
      if (before && before.digest !== body) throw otherBody(key)
      if (before) return replyOf(before.approval, await left(tx, agent, domain), approvals)
    }
    const { policy, isMapped } = await policyFor(tx, agent, domain)
    if (!isMapped && policies.isMapped) return unmapped(tx, proposal, call)
    const fields = fieldsOf(change, field)
    const evaluation = policies.evaluate(policy, fields)
    if (evaluation.hardStop) return blocked(policy, evaluation)

    const taken = await volume.take(tx, agent, domain)
    if (taken.refused) return taken.refused
    const at = now()
    const known = taken.trust ?? newTrust(rules.trust, at)
    const judgement = judge(rules, { trust: known, policy, evaluation, risk: 'normal', at })
    const { mode, risk, why } = judgement
    const id = newId()
    const approval = await approvals.open(tx, call.caller, call.id, {
      id,
      kind: 'proposal',
      domain,
      action,
      target,
      summary: summaryOf(proposal),
      mode,
      risk,
      digest: digestOf({ agent, action, target, content: change }),
      policyVersion: policies.version,
      trustLevel: judgement.trustLevel,
      confidence,
      needed: evaluation.approvers,
      content: {
        change,
        reasoning,
        ...(field !== undefined && { field }),
        why: {
          ...why,
          more: {
            rules_checked: evaluation.rulesChecked,
            rules_matched: evaluation.rulesMatched,
            warnings: evaluation.warnings,
            mapping_found: isMapped,
          },
        },
        more: { action_id: newId() },
      },
      ...(key !== undefined && body !== undefined && { key: { name: key, digest: body } }),
      ...(mode === 'act' && { auto: true }),
    })
    await scores.save(tx, { agent, domain }, touched(rules.trust, known, at))
    if (mode === 'act')
      await spotChecks.maybe(tx, call, { domain, action, target, change, judgement, proposal: id })
    return replyOf(approval, { cap: volume.cap, remaining: taken.remaining }, approvals)
  }

  /** No silent fallback: the agent is blocked, and a person is asked whether it may work there (Y4). */
  async function unmapped(tx: Tx, proposal: Proposal, call: Call): Promise<Refused> {
    const { domain } = proposal
    const agent = call.caller.id
    const [waiting] = await approvals.pendingLike(tx, {
      kind: 'permission',
      requester: agent,
      domain,
    })
    const approval =
      waiting ??
      (await approvals.open(tx, call.caller, call.id, {
        kind: 'permission',
        domain,
        action: 'work_in_domain',
        target: domain,
        summary: oneLine(`May ${agent} work in ${domain}? No policy covers it.`),
        mode: 'escalate',
        risk: 'normal',
        digest: digestOf({ agent, action: 'work_in_domain', target: domain, content: null }),
        policyVersion: policies.version,
        trustLevel: null,
        confidence: null,
        content: {
          change: { action: proposal.action, target: proposal.target, change: proposal.change },
          reasoning: proposal.reasoning,
          why: {
            text: `You are asked because no mapping names ${agent} in ${domain}, and without one an agent may not propose there.`,
            rules: [],
            policy_id: null,
            policy_description: null,
            thresholds: rules.mode.thresholds,
            evidence_level: null,
            gated: false,
            high_risk_fields: [],
          },
        },
      }))
    return new Refused('policy_blocked', `BLOCKED: no policy covers ${agent} in ${domain}.`, {
      hint: `A person was asked: ${approvals.reviewUrl(approval.id)}. Propose again once they agreed.`,
      details: {
        error: true,
        policy_error: true,
        blocked: true,
        mode: 'escalate',
        mapping_found: false,
        policy_id: null,
        policy_warnings: 0,
        violations: [],
        approval_id: approval.id,
        review_url: approvals.reviewUrl(approval.id),
      },
    })
  }

  const left = async (tx: Tx, agent: string, domain: string) => ({
    cap: volume.cap,
    remaining: await volume.left(tx, agent, domain),
  })

  return { propose, policyFor }
}

function blocked(policy: Policy | undefined, { violations, ...evaluation }: Evaluation): Refused {
  const [first] = violations.filter(({ severity }) => severity === 'hard_stop')
  return new Refused(
    'policy_blocked',
    `BLOCKED by ${policy?.id ?? 'policy'}: ${first ? `${first.field}: ${first.reason}` : 'a rule'}`,
    {
      hint: 'Change what the rule is about, or hand it to a person.',
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
      },
    },
  )
}

function replyOf(
  approval: Approval,
  { cap, remaining }: { cap: number; remaining: number | null },
  { reviewUrl }: Pick<Approvals, 'reviewUrl'>,
) {
  const { id, mode, trustLevel, confidence, content, status } = approval
  const { why, more } = content
  const said = (name: string) => why.more?.[name] as number
  const trust = trustLevel ?? 0
  const messages = {
    act: `AUTO-APPROVED: Trust (${trust.toFixed(2)}) sufficient.`,
    suggest: `AWAITING REVIEW: Proposal ${id}`,
    escalate: `ESCALATED: Trust (${trust.toFixed(2)}) too low. Proposal ${id}`,
  }
  return {
    proposal_id: id,
    action_id: String(more?.['action_id']),
    mode,
    status,
    trust_level: trust,
    confidence: confidence ?? 0,
    high_risk_field: why.high_risk_fields.length > 0,
    policy_warnings: said('warnings'),
    policy_id: why.policy_id,
    policy_description: why.policy_description,
    policy_rules_checked: said('rules_checked'),
    rules_matched: said('rules_matched'),
    mapping_found: why.more?.['mapping_found'] === true,
    volume_cap: cap,
    volume_remaining: remaining,
    evidence_level: Math.round((why.evidence_level ?? 0) * 10_000) / 10_000,
    gated: why.gated,
    message: messages[mode],
    ...(mode !== 'act' && { review_url: reviewUrl(id) }),
  }
}

/** What the list of the inbox shows: the act in words, from what the agent named. */
function summaryOf({ action, target, change }: Proposal): string {
  const entries =
    typeof change === 'object' && change !== null && !Array.isArray(change)
      ? Object.entries(change)
      : []
  const [first] = entries
  if (!first || first[0] === 'raw') return oneLine(`${action} on ${target}`)
  const [name, value] = first
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const more = entries.length > 1 ? ` (+${entries.length - 1})` : ''
  return oneLine(`${action} on ${target}: ${name} = ${shown}${more}`)
}

const otherBody = (key: string) =>
  new CoworkError(
    'idempotency_conflict',
    `The idempotency_key ${JSON.stringify(key)} was used for another proposal.`,
    { hint: 'Repeat the same proposal under it, or take a new key.' },
  )

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
