import * as z from 'zod'
import { modes } from '#approvals'
import type { Risk } from '#approvals'
import { actorOf } from '#base/caller.ts'
import type { Caller } from '#base/caller.ts'
import { rfc3339 } from '#base/clock.ts'
import { CoworkError } from '#base/errors.ts'
import { defineTool } from '#base/tool.ts'
import type { Ledger } from '#ledger'
import { evidenceLevel, evidenceNote } from '../rules/evidence.ts'
import { modeOf } from '../rules/mode.ts'
import type { Governance } from '../service.ts'
import { accuracyOf, countedFor, current, gateOpen, idleDays, newTrust } from '../rules/trust.ts'
import type { Trust } from '../rules/trust.ts'
import { agentId, domain, who, words } from './words.ts'

const evidence = z.object({
  approvals: z.number(),
  overrides: z.number(),
  evidence_level: z.number(),
  gated: z.boolean(),
})

export const trustShape = {
  agent_id: z.string(),
  domain: z.string(),
  trust_level: z.number(),
  mode: z.enum(modes),
  accuracy: z.number().nullable(),
  approvals: z.number(),
  overrides: z.number(),
  override_rate: z.number().nullable(),
  consecutive_overrides: z.number(),
  evidence_level: z.number(),
  gated: z.boolean(),
  evidence_note: z.string().optional().describe('Why a high enough score does not act yet'),
  decay_days: z.number(),
  last_active_at: z.string(),
  by_risk: z.object({ low: evidence, normal: evidence, high: evidence }),
}

/** The standing of one agent in one domain as everyone reads it (G5). */
export function standing(
  { rules }: Pick<Governance, 'rules'>,
  pair: { agent: string; domain: string },
  stored: Trust,
  at: number,
) {
  const trust = current(rules.trust, stored, at)
  const accuracy = accuracyOf(trust)
  const open = gateOpen(rules.trust, trust, 'normal')
  const of = (risk: Risk) => {
    const { good, bad } = trust.evidence[risk]
    return {
      approvals: round(good),
      overrides: round(bad),
      evidence_level: round(evidenceLevel(trust.evidence[risk])),
      gated: !gateOpen(rules.trust, trust, risk),
    }
  }
  const { mode, gated } = modeOf(rules.mode, {
    score: trust.score,
    gateOpen: open,
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
    evidence_level: round(evidenceLevel(trust.evidence.normal)),
    gated,
    ...(gated && { evidence_note: evidenceNote }),
    decay_days: idleDays(stored, at),
    last_active_at: rfc3339(stored.activeAt),
    by_risk: { low: of('low'), normal: of('normal'), high: of('high') },
  }
}

const round = (value: number) => Math.round(value * 10_000) / 10_000

export const checkTrustTool = (governance: Governance, ledger: Pick<Ledger, 'transact'>) => {
  const { store, scores, db, now } = governance

  /** The first read creates the pair (T2). */
  const create = (pair: { agent: string; domain: string }, caller: Caller) =>
    ledger.transact((tx) => scores.load(tx, pair, actorOf(caller)))

  return defineTool({
    name: 'cowork_check_trust',
    title: 'Check trust',
    description: 'How far an agent is trusted in a domain, and what that lets it do.',
    toolset: 'cowork',
    effect: 'read',
    by: 'anyone',
    input: z.object({
      agent_id: who.agent_id.describe('The agent; yourself where absent'),
      domain,
    }),
    output: z.object(trustShape),
    async run({ agent_id, domain: where }, { caller }) {
      const pair = { agent: agentOf(caller, agent_id), domain: where }
      const at = now()
      const known = await store.trust(db, pair.agent, where)
      const stored = known ?? (await create(pair, caller))
      return standing(governance, pair, countedFor(caller, stored), at)
    },
  })
}

/** An agent asks about itself, people about anyone. */
function agentOf(caller: Caller, asked: string | undefined): string {
  if (caller.kind === 'agent') return caller.id
  if (asked !== undefined) return asked
  throw new CoworkError('invalid_input', 'Say which agent: agent_id is missing.', {
    hint: '`cowork agents` lists them.',
  })
}

export const setTrustTool = ({ scores, store }: Governance) =>
  defineTool({
    name: 'cowork_set_trust',
    title: 'Set trust',
    description:
      'Set the trust of an agent in a domain by hand, with a reason. Evidence from reviews stays as it is.',
    toolset: 'cowork',
    effect: 'write',
    by: 'human',
    assured: true,
    input: z.object({
      agent_id: agentId,
      domain,
      score: z.number().min(0).max(1),
      reason: words.min(1).describe('Why, for whoever asks later'),
    }),
    output: z.object({
      agent_id: z.string(),
      domain: z.string(),
      from: z.number(),
      to: z.number(),
      note: z.string().optional().describe('Where the name may be a slip'),
    }),
    touches: (input) => ({ domain: input.domain, target: input.agent_id }),
    async change(tx, { agent_id: agent, domain: where, score, reason }, { id, caller }) {
      const isNew = (await store.all(tx, { agent })).length === 0
      const { trust, stored } = await scores.set(tx, { agent, domain: where }, score)
      const { from, to } = trust
      tx.append({
        type: 'trust.set',
        actor: actorOf(caller),
        domain: where,
        subject: agent,
        ids: { call: id },
        data: { trust: { from, to }, reason, stored },
      })
      const name = JSON.stringify(agent)
      const note = `There was no trust of an agent called ${name} before: look whether that is its name.`
      return { agent_id: agent, domain: where, from, to, ...(isNew && { note }) }
    },
  })

const day = 24 * 60 * 60 * 1000
const projectedDays = 30

export const trustHistoryTool = (governance: Governance) =>
  defineTool({
    name: 'cowork_trust_history',
    title: 'Trust over time',
    description: 'How the trust of an agent in a domain moved, and where idle days would take it.',
    toolset: 'cowork',
    effect: 'read',
    by: 'anyone',
    input: z.object({
      agent_id: who.agent_id.describe('The agent; yourself where absent'),
      domain,
      days: z.number().int().min(1).max(365).default(30),
    }),
    output: z.object({
      agent_id: z.string(),
      domain: z.string(),
      points: z.array(z.object({ at: z.string(), score: z.number(), cause: z.string() })),
      projection: z.array(z.object({ at: z.string(), score: z.number() })),
      thresholds: z.object({ suggest: z.number(), act: z.number() }),
      now: z.object({
        trust_level: z.number(),
        mode: z.enum(modes),
        evidence_level: z.number(),
        gated: z.boolean(),
      }),
    }),
    async run({ agent_id, domain: where, days }, { caller }) {
      const { store, db, rules, now } = governance
      const agent = agentOf(caller, agent_id)
      const at = now()
      const since = at - days * day
      const trust = (await store.trust(db, agent, where)) ?? newTrust(rules.trust, at)
      const points = await store.points(db, agent, where, since)
      const before = await store.pointBefore(db, agent, where, since)
      const start = { at: since, score: before?.score ?? rules.trust.defaultLevel, cause: 'before' }
      const { trust_level, mode, evidence_level, gated } = standing(
        governance,
        { agent, domain: where },
        trust,
        at,
      )
      return {
        agent_id: agent,
        domain: where,
        points: [start, ...points].map((point) => ({
          at: rfc3339(point.at),
          score: point.score,
          cause: point.cause,
        })),
        projection: Array.from({ length: projectedDays + 1 }, (_, ahead) => ({
          at: rfc3339(at + ahead * day),
          score: current(rules.trust, trust, at + ahead * day).score,
        })),
        thresholds: rules.mode.thresholds,
        now: { trust_level, mode, evidence_level, gated },
      }
    },
  })
