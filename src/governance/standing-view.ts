import { risks } from '#approvals'
import type { Risk } from '#approvals'
import { formatRfc3339 } from '#base/clock.ts'
import type { Clock } from '#base/clock.ts'
import type { Reader } from '#base/db/port.ts'
import type { Rules } from './rules/mode-decision.ts'
import { resolveMode } from './rules/mode.ts'
import {
  checkRate,
  checksToForgiveness,
  creditToAct,
  kindCreditToAct,
  maxStrikes,
} from './rules/standing.ts'
import { levelOf, wordsFor } from './rules/standing-text.ts'
import { closedGate, applyDecay } from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import type { GovernanceStore } from './store.ts'

type Deps = {
  readonly store: Pick<GovernanceStore, 'unread' | 'kinds'>
  readonly rules: Rules
  readonly now: Clock
}

/** How an agent stands in a domain, as people read it: no agent sees its strikes and its checks (T14). */
export function createStandingView({ store, rules, now }: Deps) {
  return async (reader: Reader, pair: TrustKey, stored: Trust) => {
    const at = now()
    const trust = applyDecay(rules.trust, stored, at)
    const unread = await store.unread(reader, pair.agent, pair.domain, at)
    const kinds = await store.kinds(reader, pair.agent, pair.domain)

    const classOf = (risk: Risk) => {
      const standing = trust.standings[risk]
      const waiting = unread.get(risk) ?? { count: 0, oldestMs: 0, lookBacks: 0 }
      // Of a kind that has all the credit there is: what a new kind lacks is told by kind.
      const proof = { kind: kindCreditToAct, unread: waiting }
      const closed = closedGate(rules.trust, trust, risk, proof)
      const { mode } = resolveMode(rules.mode, {
        score: trust.score,
        gateOpen: closed === undefined,
        highRisk: false,
      })
      const level = levelOf(mode)
      const rate = checkRate(rules.trust.standing, standing)
      const { credit, strikes } = standing
      return {
        risk,
        level,
        ...wordsFor({
          level,
          score: trust.score,
          thresholds: rules.mode.thresholds,
          closed,
          unread: waiting,
          rate,
          isVouched: trust.vouched && risk !== 'high' && credit < creditToAct,
        }),
        credit: { now: credit, needed: creditToAct },
        to_go: closed?.toGo ?? 0,
        ...(closed && { cause: closed.cause }),
        strikes: {
          now: strikes,
          most: maxStrikes,
          ...(strikes > 0 && { forgiven_after: checksToForgiveness(standing) }),
        },
        checks: {
          rate,
          unread: waiting.count,
          look_back: waiting.lookBacks,
          ...(waiting.count > 0 && { oldest_at: formatRfc3339(at - waiting.oldestMs) }),
        },
        kinds: kinds
          .filter((kind) => kind.risk === risk)
          .map(({ kind, credit: own }) => {
            const missing = closedGate(rules.trust, trust, risk, { kind: own, unread: noneUnread })
            return { kind, credit: own, to_go: missing ? Math.max(0, kindCreditToAct - own) : 0 }
          }),
      }
    }

    return {
      agent_id: pair.agent,
      domain: pair.domain,
      trust_level: trust.score,
      thresholds: rules.mode.thresholds,
      vouched: trust.vouched,
      classes: risks.map(classOf),
    }
  }
}

/** The checks that wait are told of the class. */
const noneUnread = { count: 0, oldestMs: 0 }
