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
import { evidenceLevelOf, kindCreditToAct } from '../rules/standing.ts'
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

type Asked = {
  readonly pair: { readonly agent: string; readonly domain: string }
  readonly stored: Trust
  readonly caller: Caller
}

/**
 * The standing of one agent in one domain (G5). An agent reads how much is missing. Why, and what is checked, only
 * people read: else it would know when it is looked at (T14).
 */
export async function toTrustResult(
  { rules, store, db, now }: Pick<Governance, 'rules' | 'store' | 'db' | 'now'>,
  { pair, stored, caller }: Asked,
) {
  const at = now()
  const trust = applyDecay(rules.trust, stored, at)
  const accuracy = computeAccuracy(trust)
  const waiting = await store.unread(db, pair.agent, pair.domain, at)
  const of = (risk: Risk) => {
    const unread = waiting.get(risk) ?? { count: 0, oldestMs: 0 }
    const closed = closedGate(rules.trust, trust, risk, { kind: kindCreditToAct, unread })
    const toGo = closed?.toGo ?? 0
    return {
      evidence_level: round(evidenceLevelOf(toGo)),
      gated: closed !== undefined,
      to_go: toGo,
      ...(closed && caller.kind === 'human' && { cause: closed.cause }),
    }
  }
  const byRisk = { low: of('low'), normal: of('normal'), high: of('high') }
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

/** An agent asks about itself, people about anyone. */
function agentOf(caller: Caller, asked: string | undefined): string {
  if (caller.kind === 'agent') return caller.id
  if (asked !== undefined) return asked
  throw new CoworkError('invalid_input', 'Say which agent: agent_id is missing.', {
    hint: '`cowork agents` lists them.',
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
      description:
        'See how far you are trusted in a domain, and what that lets you do without asking.',
      input: z.object({
        agent_id: agentFields.agent_id.describe('The agent; yourself where absent'),
        domain,
      }),
      output: trustResults.cowork_check_trust,
      async read({ agent_id, domain: where }, { caller }) {
        const pair = { agent: agentOf(caller, agent_id), domain: where }
        const known = await store.trust(db, pair.agent, where)
        // The first read creates the pair (T2).
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
        'Set the trust of an agent in a domain by hand, with a reason. With 0.8 or more you vouch for it: it acts alone where the risk is low or normal, until the first fault.',
      requiresPasskey: true,
      input: z.object({
        agent_id: agentId,
        domain,
        score: z.number().min(0).max(1),
        reason: longText.min(1).describe('Why, for whoever asks later'),
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
        const note = `There was no trust of an agent called ${name} before: look whether that is its name.`
        return { agent_id: agent, domain: where, from, to, ...(isNew && { note }) }
      },
    }),
    defineTool({
      ...forPeople.write,
      name: 'cowork_forgive',
      title: 'Forgive',
      description:
        'Clear the strikes and the debt of an agent in a domain and class of risk, with a reason. It earns the missing credit anew.',
      requiresPasskey: true,
      input: z.object({
        agent_id: agentId,
        domain,
        risk: z.enum(risks).default('normal'),
        reason: longText.min(1).describe('Why, for whoever asks later'),
      }),
      output: trustResults.cowork_forgive,
      describeTarget: (input) => ({ domain: input.domain, target: input.agent_id }),
      async transact(tx, { agent_id: agent, domain: where, risk, reason }, { id, caller }) {
        // To load what is not there would create it (T2).
        if (!(await store.trust(tx, agent, where)))
          throw new CoworkError(
            'not_found',
            `There is no trust of ${JSON.stringify(agent)} in ${JSON.stringify(where)}.`,
            { hint: '`cowork trust` lists agents and domains.' },
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
      title: 'How agents stand',
      description:
        'What agents may do alone, why, and what is missing: credit, strikes, checks and kinds of action, by domain and class of risk. For people.',
      input: z.object({
        agent_id: agentId.optional(),
        domain: domain.optional(),
      }),
      output: trustResults.cowork_standing,
      async read({ agent_id: agent, domain: where }) {
        const pairs = await store.all(db, { agent, domain: where })
        const found = []
        for (const { trust, ...pair } of pairs) found.push(await standings(db, pair, trust))
        return { standings: found }
      },
    }),
    defineTool({
      ...forAnyone.read,
      name: 'cowork_trust_history',
      title: 'Trust over time',
      description: 'See how your trust in a domain changed, and where idle days would take it.',
      input: z.object({
        agent_id: agentFields.agent_id.describe('The agent; yourself where absent'),
        domain,
        days: effort(z.int().min(1).max(365)).default(30),
      }),
      output: trustResults.cowork_trust_history,
      async read({ agent_id, domain: where, days }, { caller }) {
        const agent = agentOf(caller, agent_id)
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
