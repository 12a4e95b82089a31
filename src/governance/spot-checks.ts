import { digestOf, oneLine } from '#approvals'
import type { Approvals } from '#approvals'
import type { Tx } from '#base/db/port.ts'
import type { Call } from '#base/tool.ts'
import type { Judgement } from './rules/judge.ts'

export type Autonomous = {
  readonly domain: string
  readonly action: string
  readonly target: string
  readonly change: unknown
  readonly judgement: Judgement
  /** The proposal that trust approved, where it was one. */
  readonly proposal?: string
}

export type SpotChecks = ReturnType<typeof createSpotChecks>

/** A random share of what agents did by themselves is looked at afterwards (T14). */
export function createSpotChecks(
  approvals: Pick<Approvals, 'open'>,
  {
    rate,
    policyVersion,
    random,
  }: { rate: number; policyVersion: () => string; random: () => number },
) {
  return {
    async maybe(tx: Tx, call: Call, done: Autonomous): Promise<void> {
      if (random() >= rate) return
      const { domain, action, target, change, judgement, proposal } = done
      await approvals.open(tx, call.caller, call.id, {
        kind: 'spot_check',
        domain,
        action,
        target,
        summary: oneLine(`Done alone: ${action}${target && ` on ${target}`}`),
        mode: 'act',
        risk: judgement.risk,
        digest: digestOf({ agent: call.caller.id, action, target, content: change }),
        policyVersion: policyVersion(),
        trustLevel: judgement.trustLevel,
        confidence: null,
        content: {
          change,
          why: {
            ...judgement.why,
            text: 'You are asked because one in so many acts that an agent does alone is looked at afterwards. It is done already.',
          },
          more: { call: call.id, ...(proposal !== undefined && { proposal }) },
        },
      })
    },
  }
}
