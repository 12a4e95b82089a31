import { CoworkError } from '#base/errors.ts'
import type { Ledger } from '#ledger'
import { extractFields } from '../rules/fields.ts'
import type { Policies } from '../rules/policy.ts'
import { parsePolicyDocument } from './policy-document.ts'
import type { PolicyDocument } from './policy-document.ts'
import type { Reasoning } from '../tools/propose.ts'
import { readRecordedCalls } from './recorded-calls.ts'
import { createReplay, replayOutcome, findPolicy } from './replay.ts'
import type { CandidatePolicy, RecordedCall, ReplayResult } from './replay.ts'
import type { Governance } from '../service.ts'
import { kindCreditToAct } from '../rules/standing.ts'
import { closedGate, applyDecay, initialTrust } from '../rules/trust.ts'

const dayMs = 24 * 60 * 60 * 1000
/** A larger replay adds nothing and delays other work of the daemon. */
const maxReplayed = 50_000
/** An agent that was active in this period must not be locked out unnoticed. */
const activeDays = 30
const maxScanned = 10_000

/**
 * The candidate rules: a document, an earlier version, or one policy for everything; by default the active policies.
 */
export type CandidateSource = {
  readonly body?: unknown
  readonly version?: string | undefined
  readonly policyId?: string | undefined
}

export type HypotheticalProposal = {
  readonly agent: string
  readonly domain: string
  readonly change: unknown
  readonly field?: string | undefined
  readonly trustLevel?: number | undefined
  readonly reasoning?: Reasoning | undefined
}

export type Simulation = ReturnType<typeof createSimulation>

/** Evaluates and replays rules before they become active (Y6). Changes nothing. */
export function createSimulation(governance: Governance, ledger: Ledger) {
  const { db, store, approvals, proposals, versions, reasonings, rules, now } = governance

  const toCandidate = async (policies: Policies): Promise<CandidatePolicy> => ({
    policies,
    extra: await proposals.approvedMappings(db),
    rules: rules.mode,
    reasonings,
  })

  /** Returns undefined if the active policies are unreadable: then everything is blocked. */
  function getActivePolicies(): Policies | undefined {
    try {
      return versions.policies()
    } catch {
      return undefined
    }
  }

  async function resolveCandidate({
    body,
    version,
    policyId,
  }: CandidateSource): Promise<CandidatePolicy> {
    if (body !== undefined) return toCandidate(versions.buildPolicies(parse(body)))
    if (version !== undefined)
      return toCandidate(versions.buildPolicies(await loadDocument(version)))
    const candidate = await toCandidate(versions.policies())
    if (policyId === undefined) return candidate
    const always = candidate.policies.named(policyId)
    if (!always) throw unknownPolicyError(policyId)
    return { ...candidate, always }
  }

  const parse = (body: unknown): PolicyDocument => parsePolicyDocument(body, versions.reasoningIds)

  async function loadDocument(version: string): Promise<PolicyDocument> {
    const stored = await versions.find(version)
    if (!stored?.body) throw unknownVersionError(version)
    return stored.body
  }

  /** Evaluates one proposal with the current trust. */
  async function evaluateProposal(
    candidate: CandidatePolicy | undefined,
    proposal: HypotheticalProposal,
  ) {
    if (!candidate) return { mode: 'blocked' as const, ...blockedResult }
    const { agent, domain, change, field, reasoning } = proposal
    const at = now()
    const known = (await store.trust(db, agent, domain)) ?? initialTrust(rules.trust, at)
    const trust = applyDecay(rules.trust, known, at)
    const recorded: RecordedCall = {
      kind: 'proposal',
      agent,
      domain,
      action: '',
      change,
      field,
      at,
      outcome: 'act',
      trustLevel: proposal.trustLevel ?? trust.score,
      gateOpen: closedGate(rules.trust, trust, 'normal', fullProof) === undefined,
      floor: 'act',
      reasoning,
      unverified: [],
    }
    const policy = findPolicy(candidate, recorded)
    const evaluation = candidate.policies.evaluate(policy, extractFields(change, field))
    return {
      mode: replayOutcome(candidate, recorded) ?? ('blocked' as const),
      policy_id: policy?.id ?? null,
      mapping_found: policy !== undefined,
      trust_level: recorded.trustLevel ?? 0,
      violations: [...evaluation.violations],
      high_risk_fields: [...evaluation.highRisk],
      approvers: evaluation.approvers,
    }
  }

  async function replayHistory(
    candidate: CandidatePolicy,
    {
      days,
      agent,
      domain,
    }: { days: number; agent?: string | undefined; domain?: string | undefined },
  ): Promise<ReplayResult & { truncated: boolean }> {
    const replay = createReplay(candidate)
    let unreadableCount = 0
    let truncated = false
    const pages = readRecordedCalls(
      { approvals, ledger },
      {
        since: now() - days * dayMs,
        agent,
        domain,
        kinds: ['proposal', 'call'],
        maxCount: maxReplayed,
        onTruncated: () => (truncated = true),
      },
    )
    for await (const page of pages)
      for (const recorded of page)
        if (recorded) replay.add(recorded)
        else unreadableCount++
    const result = replay.result()
    return { ...result, skipped: result.skipped + unreadableCount, truncated }
  }

  /**
   * Finds agents that proposed something recently that is possible today, and that could propose nothing of it under
   * the new document. People rarely intend that, and the agents cannot tell them.
   */
  async function findLockedOut(
    body: PolicyDocument,
  ): Promise<{ agent_id: string; domains: string[] }[]> {
    const active = getActivePolicies()
    if (!active) return []
    const before = await toCandidate(active)
    const after = await toCandidate(versions.buildPolicies(body))
    const agents = new Map<string, { hadWay: boolean; hasWay: boolean; domains: Set<string> }>()
    const query = {
      since: now() - activeDays * dayMs,
      kinds: ['proposal'],
      maxCount: maxScanned,
    } as const
    for await (const page of readRecordedCalls({ approvals, ledger }, query))
      for (const recorded of page) {
        if (!recorded) continue
        const { agent, domain } = recorded
        const known = agents.get(agent) ?? { hadWay: false, hasWay: false, domains: new Set() }
        known.hadWay ||= replayOutcome(before, recorded) !== 'blocked'
        known.hasWay ||= replayOutcome(after, recorded) !== 'blocked'
        known.domains.add(domain)
        agents.set(agent, known)
      }
    return [...agents]
      .filter(([, { hadWay, hasWay }]) => hadWay && !hasWay)
      .map(([agent, { domains }]) => ({ agent_id: agent, domains: [...domains].toSorted() }))
      .toSorted((a, b) => a.agent_id.localeCompare(b.agent_id, 'en'))
  }

  return {
    parse,
    loadDocument,
    findLockedOut,
    resolveCandidate,
    replayHistory,
    async compare(candidate: CandidatePolicy, proposal: HypotheticalProposal) {
      const active = getActivePolicies()
      return {
        before: await evaluateProposal(active && (await toCandidate(active)), proposal),
        after: await evaluateProposal(candidate, proposal),
      }
    },
    /** Returns the ledger sequence number of an example. The approval of a call leads to its request. */
    async findSeq({ seq, approval, kind }: RecordedCall): Promise<number | null> {
      if (seq !== undefined || approval === undefined || kind === 'call') return seq ?? null
      const [entry] = await ledger.find({ proposal: approval, limit: 1 })
      return entry?.seq ?? null
    },
  }
}

const blockedResult = {
  policy_id: null,
  mapping_found: false,
  trust_level: 0,
  violations: [],
  high_risk_fields: [],
  approvers: 1,
}

export const unknownVersionError = (version: string) =>
  new CoworkError('not_found', `Unknown version: ${JSON.stringify(version.slice(0, 100))}.`, {
    hint: 'cowork_policy_versions lists all versions.',
  })

const unknownPolicyError = (id: string) =>
  new CoworkError('not_found', `Unknown policy: ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'cowork_list_policies lists the active policies.',
  })

/** A hypothetical proposal has no kind of action and no checks. */
const fullProof = { kind: kindCreditToAct, unread: { count: 0, oldestMs: 0 } }
