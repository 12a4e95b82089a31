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
import { toLevel, formatStanding } from './rules/standing-text.ts'
import { closedGate, applyDecay } from './rules/trust.ts'
import type { Trust } from './rules/trust.ts'
import type { TrustKey } from './trust-service.ts'
import type { GovernanceStore } from './store.ts'

type Deps = {
  readonly store: Pick<GovernanceStore, 'unread' | 'kinds'>
  readonly rules: Rules
  readonly now: Clock
}

/** Returns the standing of an agent in a domain, for people: an agent must not see its strikes and checks (T14). */
export function createStandingView({ store, rules, now }: Deps) {
  return async (reader: Reader, pair: TrustKey, stored: Trust) => {
    const at = now()
    const trust = applyDecay(rules.trust, stored, at)
    const unread = await store.unread(reader, pair.agent, pair.domain, at)
    const kinds = await store.kinds(reader, pair.agent, pair.domain)

    const toClass = (risk: Risk) => {
      const standing = trust.standings[risk]
      const unreadChecks = unread.get(risk) ?? { count: 0, oldestMs: 0, lookBacks: 0 }
      // Assumes full credit of the kind of action: missing credit of a new kind is listed by kind.
      const proof = { kind: kindCreditToAct, unread: unreadChecks }
      const closed = closedGate(rules.trust, trust, risk, proof)
      const { mode } = resolveMode(rules.mode, {
        score: trust.score,
        gateOpen: closed === undefined,
        highRisk: false,
      })
      const level = toLevel(mode)
      const rate = checkRate(rules.trust.standing, standing)
      const { credit, strikes } = standing
      return {
        risk,
        level,
        ...formatStanding({
          level,
          score: trust.score,
          thresholds: rules.mode.thresholds,
          closed,
          unread: unreadChecks,
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
          unread: unreadChecks.count,
          look_back: unreadChecks.lookBacks,
          ...(unreadChecks.count > 0 && { oldest_at: formatRfc3339(at - unreadChecks.oldestMs) }),
        },
        kinds: kinds
          .filter((kind) => kind.risk === risk)
          .map(({ kind, credit: kindCredit }) => {
            const missing = closedGate(rules.trust, trust, risk, {
              kind: kindCredit,
              unread: noUnread,
            })
            return {
              kind,
              credit: kindCredit,
              to_go: missing ? Math.max(0, kindCreditToAct - kindCredit) : 0,
            }
          }),
      }
    }

    return {
      agent_id: pair.agent,
      domain: pair.domain,
      trust_level: trust.score,
      thresholds: rules.mode.thresholds,
      vouched: trust.vouched,
      classes: risks.map(toClass),
    }
  }
}

/** Pending checks are part of the class, not of the kind. */
const noUnread = { count: 0, oldestMs: 0 }
