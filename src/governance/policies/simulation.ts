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

const day = 24 * 60 * 60 * 1000
/** A replay of more than this says no more, and takes the daemon's time from others. */
const mostReplayed = 50_000
/** Who worked within it is missed when it may not any more. */
const activeDays = 30
const mostLookedAt = 10_000

/** The rules to try: what a person wrote, a version there was, a policy for everything; else those in force. */
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

/** What rules would do, and would have done, before they are in force (Y6). Changes nothing. */
export function createSimulation(governance: Governance, ledger: Ledger) {
  const { db, store, approvals, proposals, versions, reasonings, rules, now } = governance

  const candidateOf = async (policies: Policies): Promise<CandidatePolicy> => ({
    policies,
    extra: await proposals.approvedMappings(db),
    rules: rules.mode,
    reasonings,
  })

  /** Those in force; none where they cannot be read, and then everything is blocked. */
  function inForce(): Policies | undefined {
    try {
      return versions.policies()
    } catch {
      return undefined
    }
  }

  async function tried({ body, version, policyId }: CandidateSource): Promise<CandidatePolicy> {
    if (body !== undefined) return candidateOf(versions.setOf(read(body)))
    if (version !== undefined) return candidateOf(versions.setOf(await bodyOf(version)))
    const candidate = await candidateOf(versions.policies())
    if (policyId === undefined) return candidate
    const always = candidate.policies.named(policyId)
    if (!always) throw noPolicy(policyId)
    return { ...candidate, always }
  }

  const read = (body: unknown): PolicyDocument => parsePolicyDocument(body, versions.reasoningIds)

  async function bodyOf(version: string): Promise<PolicyDocument> {
    const found = await versions.find(version)
    if (!found?.body) throw unknownVersionError(version)
    return found.body
  }

  /** One proposal, as it would be judged now. */
  async function judged(candidate: CandidatePolicy | undefined, supposed: HypotheticalProposal) {
    if (!candidate) return { mode: 'blocked' as const, ...nothing }
    const { agent, domain, change, field, reasoning } = supposed
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
      trustLevel: supposed.trustLevel ?? trust.score,
      gateOpen: closedGate(rules.trust, trust, 'normal', proven) === undefined,
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

  async function replayed(
    candidate: CandidatePolicy,
    {
      days,
      agent,
      domain,
    }: { days: number; agent?: string | undefined; domain?: string | undefined },
  ): Promise<ReplayResult & { truncated: boolean }> {
    const replay = createReplay(candidate)
    let lost = 0
    let truncated = false
    const pages = readRecordedCalls(
      { approvals, ledger },
      {
        since: now() - days * day,
        agent,
        domain,
        kinds: ['proposal', 'call'],
        most: mostReplayed,
        onCut: () => (truncated = true),
      },
    )
    for await (const page of pages)
      for (const recorded of page)
        if (recorded) replay.add(recorded)
        else lost++
    const result = replay.result()
    return { ...result, skipped: result.skipped + lost, truncated }
  }

  /**
   * Agents that proposed something lately that is possible today, and could propose none of it any more.
   * People rarely mean that, and the agents cannot tell them.
   */
  async function lockedOut(
    body: PolicyDocument,
  ): Promise<{ agent_id: string; domains: string[] }[]> {
    const active = inForce()
    if (!active) return []
    const before = await candidateOf(active)
    const after = await candidateOf(versions.setOf(body))
    const agents = new Map<string, { hadWay: boolean; hasWay: boolean; domains: Set<string> }>()
    const wanted = {
      since: now() - activeDays * day,
      kinds: ['proposal'],
      most: mostLookedAt,
    } as const
    for await (const page of readRecordedCalls({ approvals, ledger }, wanted))
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
    read,
    bodyOf,
    lockedOut,
    tried,
    replayed,
    async compared(candidate: CandidatePolicy, supposed: HypotheticalProposal) {
      const active = inForce()
      return {
        before: await judged(active && (await candidateOf(active)), supposed),
        after: await judged(candidate, supposed),
      }
    },
    /** Where an example stands in the ledger; the question about a call is found by its approval. */
    async seqOf({ seq, approval, kind }: RecordedCall): Promise<number | null> {
      if (seq !== undefined || approval === undefined || kind === 'call') return seq ?? null
      const [entry] = await ledger.find({ proposal: approval, limit: 1 })
      return entry?.seq ?? null
    },
  }
}

const nothing = {
  policy_id: null,
  mapping_found: false,
  trust_level: 0,
  violations: [],
  high_risk_fields: [],
  approvers: 1,
}

export const unknownVersionError = (version: string) =>
  new CoworkError('not_found', `There is no version ${JSON.stringify(version.slice(0, 100))}.`, {
    hint: 'cowork_policy_versions lists those there were.',
  })

const noPolicy = (id: string) =>
  new CoworkError('not_found', `There is no policy ${JSON.stringify(id.slice(0, 100))}.`, {
    hint: 'cowork_list_policies names those in force.',
  })

/** What is supposed has no kind of action and no checks. */
const proven = { kind: kindCreditToAct, unread: { count: 0, oldestMs: 0 } }
