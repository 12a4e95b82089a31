import * as z from 'zod'
import { risks } from '#approvals'
import type { Risk } from '#approvals'
import { toActor } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { CoworkError } from '#base/errors.ts'
import { forAnyone, forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Ledger } from '#ledger'
import { evidenceNote } from '../gate-proof.ts'
import { resolveMode } from '../rules/mode.ts'
import { pointsFor } from '../trust-service.ts'
import type { Governance } from '../service.ts'
import { computeEvidenceLevel, kindCreditToAct } from '../rules/standing.ts'
import {
  computeAccuracy,
  closedGate,
  trustForCaller,
  applyDecay,
  idleDays,
  initialTrust,
} from '../rules/trust.ts'
import type { Trust } from '../rules/trust.ts'
import { agentId, domain, agentFields, longText } from './shared-schemas.ts'
import { trustResults } from '../wire/trust.ts'

type TrustQuery = {
  readonly pair: { readonly agent: string; readonly domain: string }
  readonly stored: Trust
  readonly caller: Caller
}

/**
 * Returns the trust of an agent in a domain (G5). Agents read how much credit is missing. The cause and the checks
 * are for people only: they would reveal when the agent is checked (T14).
 */
export async function toTrustResult(
  { rules, store, db, now }: Pick<Governance, 'rules' | 'store' | 'db' | 'now'>,
  { pair, stored, caller }: TrustQuery,
) {
  const at = now()
  const trust = applyDecay(rules.trust, stored, at)
  const accuracy = computeAccuracy(trust)
  const unreadChecks = await store.unread(db, pair.agent, pair.domain, at)
  const toRiskEvidence = (risk: Risk) => {
    const unread = unreadChecks.get(risk) ?? { count: 0, oldestMs: 0 }
    const closed = closedGate(rules.trust, trust, risk, { kind: kindCreditToAct, unread })
    const toGo = closed?.toGo ?? 0
    return {
      evidence_level: round(computeEvidenceLevel(toGo)),
      gated: closed !== undefined,
      to_go: toGo,
      ...(closed && caller.kind === 'human' && { cause: closed.cause }),
    }
  }
  const byRisk = {
    low: toRiskEvidence('low'),
    normal: toRiskEvidence('normal'),
    high: toRiskEvidence('high'),
  }
  const { gated: isClosed, ...normal } = byRisk.normal
  const { mode, gated } = resolveMode(rules.mode, {
    score: trust.score,
    gateOpen: !isClosed,
    highRisk: false,
  })
  return {
    agent_id: pair.agent,
    domain: pair.domain,
    trust_level: trust.score,
    mode,
    accuracy,
    approvals: trust.approvals,
    overrides: trust.overrides,
    override_rate: accuracy === null ? null : round(1 - accuracy),
    consecutive_overrides: trust.streak,
    ...normal,
    gated,
    ...(gated && { evidence_note: evidenceNote }),
    decay_days: idleDays(stored, at),
    last_active_at: formatRfc3339(stored.activeAt),
    by_risk: byRisk,
  }
}

const round = (value: number) => Math.round(value * 10_000) / 10_000

/** An agent queries itself, people any agent. */
function resolveAgentId(caller: Caller, requested: string | undefined): string {
  if (caller.kind === 'agent') return caller.id
  if (requested !== undefined) return requested
  throw new CoworkError('invalid_input', 'Missing agent_id.', {
    hint: 'Set agent_id; `cowork agents` lists agents.',
  })
}

const day = 24 * 60 * 60 * 1000
const projectedDays = 30

export const trustTools = (governance: Governance, ledger: Ledger): Tool[] => {
  const { scores, store, db, rules, now, standings } = governance
  return [
    defineTool({
      ...forAnyone.read,
      name: 'cowork_check_trust',
      title: 'Check trust',
      description: 'Show your trust in a domain and what it allows without approval.',
      input: z.object({
        agent_id: agentFields.agent_id.describe('Agent; default: yourself'),
        domain,
      }),
      output: trustResults.cowork_check_trust,
      async read({ agent_id, domain: where }, { caller }) {
        const pair = { agent: resolveAgentId(caller, agent_id), domain: where }
        const known = await store.trust(db, pair.agent, where)
        // The first read creates the trust record (T2).
        const stored =
          known ?? (await ledger.transact((tx) => scores.load(tx, pair, toActor(caller))))
        return toTrustResult(governance, { pair, stored: trustForCaller(caller, stored), caller })
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_set_trust',
      title: 'Set trust',
      description:
        'Set the trust of an agent in a domain, with a reason. With 0.8 or more you vouch for it: it acts alone at low and normal risk, until the first fault.',
      requiresPasskey: true,
      input: z.object({
        agent_id: agentId,
        domain,
        score: z.number().min(0).max(1),
        reason: longText.min(1).describe('Reason, shown in the audit log'),
      }),
      output: trustResults.cowork_set_trust,
      describeTarget: (input) => ({ domain: input.domain, target: input.agent_id }),
      async transact(tx, { agent_id: agent, domain: where, score, reason }, { id, caller }) {
        const isNew = (await store.all(tx, { agent })).length === 0
        const { trust, stored } = await scores.set(tx, { agent, domain: where }, score)
        const { from, to } = trust
        tx.append({
          type: 'trust.set',
          actor: toActor(caller),
          domain: where,
          subject: agent,
          ids: { call: id },
          data: { trust: { from, to }, reason, stored },
        })
        const name = JSON.stringify(agent)
        const note = `No trust was recorded for ${name} before: check the name.`
        return { agent_id: agent, domain: where, from, to, ...(isNew && { note }) }
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_forgive',
      title: 'Forgive',
      description:
        'Clear the strikes and the debt of an agent in a domain and risk class, with a reason. It must earn the missing credit again.',
      requiresPasskey: true,
      input: z.object({
        agent_id: agentId,
        domain,
        risk: z.enum(risks).default('normal'),
        reason: longText.min(1).describe('Reason, shown in the audit log'),
      }),
      output: trustResults.cowork_forgive,
      describeTarget: (input) => ({ domain: input.domain, target: input.agent_id }),
      async transact(tx, { agent_id: agent, domain: where, risk, reason }, { id, caller }) {
        // Loading a missing record would create it (T2).
        if (!(await store.trust(tx, agent, where)))
          throw new CoworkError(
            'not_found',
            `Not found: trust of ${JSON.stringify(agent)} in ${JSON.stringify(where)}.`,
            { hint: 'List agents and domains with `cowork trust`.' },
          )
        for (const stored of await scores.forgive(tx, { agent, domain: where }, risk))
          tx.append({
            type: 'trust.forgiven',
            actor: toActor(caller),
            domain: where,
            subject: agent,
            ids: { call: id },
            data: { risk, reason, ...stored },
          })
        return { agent_id: agent, domain: where, risk }
      },
    }),
    defineTool({
      ...forPeople.read,
      name: 'cowork_standing',
      title: 'Agent standing',
      description:
        'Show what agents may do alone, why, and what is missing: credit, strikes, checks and kinds of action, by domain and risk class. For people.',
      input: z.object({
        agent_id: agentId.optional(),
        domain: domain.optional(),
      }),
      output: trustResults.cowork_standing,
      async read({ agent_id: agent, domain: where }) {
        const pairs = await store.all(db, { agent, domain: where })
        const results = []
        for (const { trust, ...pair } of pairs) results.push(await standings(db, pair, trust))
        return { standings: results }
      },
    }),
    defineTool({
      ...forAnyone.read,
      name: 'cowork_trust_history',
      title: 'Trust history',
      description: 'Show how your trust in a domain changed, and how idle days would lower it.',
      input: z.object({
        agent_id: agentFields.agent_id.describe('Agent; default: yourself'),
        domain,
        days: effort(z.int().min(1).max(365)).default(30),
      }),
      output: trustResults.cowork_trust_history,
      async read({ agent_id, domain: where, days }, { caller }) {
        const agent = resolveAgentId(caller, agent_id)
        const at = now()
        const since = at - days * day
        const trust = (await store.trust(db, agent, where)) ?? initialTrust(rules.trust, at)
        const points = await store.points(db, agent, where, since)
        const before = await store.pointBefore(db, agent, where, since)
        const start = {
          at: since,
          score: before?.score ?? rules.trust.defaultLevel,
          cause: 'before',
        }
        const isPerson = caller.kind === 'human'
        const pair = { agent, domain: where }
        const { trust_level, mode, evidence_level, gated } = await toTrustResult(governance, {
          pair,
          stored: trust,
          caller,
        })
        return {
          agent_id: agent,
          domain: where,
          points: [
            { ...start, at: formatRfc3339(start.at) },
            ...pointsFor(caller, points).map((point) => ({
              at: formatRfc3339(point.at),
              score: point.score,
              cause: point.cause,
              ...(isPerson && point.mark && point.risk && { mark: point.mark, risk: point.risk }),
            })),
          ],
          projection: Array.from({ length: projectedDays + 1 }, (_, ahead) => ({
            at: formatRfc3339(at + ahead * day),
            score: applyDecay(rules.trust, trust, at + ahead * day).score,
          })),
          thresholds: rules.mode.thresholds,
          now: { trust_level, mode, evidence_level, gated },
        }
      },
    }),
  ]
}
