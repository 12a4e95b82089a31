import { digestOf, oneLine } from '#approvals'
import type { Approval, Approvals, Opening, Risk } from '#approvals'
import type { Caller } from '#base/caller.ts'
import type { Clock } from '#base/clock.ts'
import type { Db, Tx } from '#base/db/port.ts'
import type { EntryIds } from '#base/entry.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call, Tool, Touch } from '#base/tool.ts'
import { canonicalJson } from '#base/hash.ts'
import { fieldsOf } from './fields.ts'
import { judge } from './judge.ts'
import type { Judgement, Rules } from './judge.ts'
import type { Permissions } from './permissions.ts'
import type { Policies } from './policy.ts'
import type { SpotChecks } from './spot-checks.ts'
import type { GovernanceStore } from './store.ts'
import { newTrust } from './trust.ts'
import { schemaHash } from './schema-hash.ts'
import type { Volume } from './volume.ts'

/** A parsed call that waits for its verdict. */
export type Attempted = {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly caller: Caller
  readonly touch: Touch
}

/** Act, with what is to be done in the transactions around it; or wait, and how to ask. */
export type CallVerdict =
  | {
      readonly mode: 'act'
      readonly decision?: Readonly<Record<string, unknown>>
      readonly ids?: EntryIds
      /** In the transaction that starts it. */
      readonly enter?: (tx: Tx) => Promise<void>
      /** In the transaction that ends it well. */
      readonly leave?: (tx: Tx, call: Call) => Promise<void>
    }
  | {
      readonly mode: 'wait'
      readonly digest: string
      readonly open: (tx: Tx, call: Call) => Promise<Approval>
    }

type Deps = {
  readonly db: Db
  readonly store: GovernanceStore
  readonly approvals: Pick<Approvals, 'open'>
  readonly permissions: Permissions
  readonly policies: Policies
  readonly spotChecks: SpotChecks
  readonly volume: Volume
  readonly rules: Rules
  readonly everyWrite: boolean
  readonly now: Clock
}

/** Domains whose own tools guard their writes: the workspace, grants, claims (Y9). */
const builtIn = ['files', 'work', 'jobs']

const act: CallVerdict = { mode: 'act' }

/** Decides intercepted calls: the same trust and policy as proposals, with the defaults of Y9. */
export function createCallJudge(deps: Deps) {
  const { db, store, approvals, permissions, policies, spotChecks, volume, rules, now } = deps

  /** Whether trust has a say in this call at all. */
  function isJudged({ tool, caller }: Attempted): boolean {
    if (caller.kind !== 'agent' || tool.effect === 'read') return false
    // Declaring, logging and asking are how an agent obeys.
    if (tool.toolset === 'cowork') return false
    if (deps.everyWrite || tool.effect === 'destructive') return true
    return !builtIn.includes(tool.toolset)
  }

  function openingOf(attempted: Attempted, judgement: Judgement, digest: string): Opening {
    const { tool, input, touch } = attempted
    const target = touch.target ?? ''
    return {
      kind: 'call',
      domain: touch.domain,
      action: tool.name,
      target,
      summary: oneLine(`${tool.title}${target && `: ${target}`}`),
      mode: judgement.mode,
      risk: judgement.risk,
      digest,
      policyVersion: policies.version,
      trustLevel: judgement.trustLevel,
      confidence: null,
      content: {
        change: input,
        why: judgement.why,
        more: { schema: schemaHash(tool), effect: tool.effect, title: tool.title },
      },
    }
  }

  return async function decide(attempted: Attempted): Promise<CallVerdict> {
    if (!isJudged(attempted)) return act
    const { tool, input, caller, touch } = attempted
    const allowed = await permissions.covering(db, caller, tool.name, input)
    if (allowed)
      return {
        mode: 'act',
        decision: { mode: 'act', by: 'permission', permission: allowed.id },
        ids: { approval: allowed.approval },
        enter: (tx) => permissions.use(tx, allowed),
      }
    const trust = (await store.trust(db, caller.id, touch.domain)) ?? newTrust(rules.trust, now())
    const policy = policies.find(caller.id, touch.domain)
    const evaluation = policies.evaluate(policy, fieldsOf(input))
    const risk: Risk = tool.effect === 'destructive' ? 'high' : 'normal'
    const always = deps.everyWrite ? 'every write asks here (approvals.every_write)' : undefined
    const judgement = judge(rules, {
      trust,
      policy,
      evaluation,
      risk,
      at: now(),
      ...(always && { always }),
    })
    if (judgement.mode === 'act')
      return {
        mode: 'act',
        decision: {
          mode: 'act',
          by: 'trust',
          trust_level: judgement.trustLevel,
          evidence_level: judgement.evidenceLevel,
          policy_version: policies.version,
        },
        leave: (tx, call) =>
          spotChecks.maybe(tx, call, {
            domain: touch.domain,
            action: tool.name,
            target: touch.target ?? '',
            change: input,
            judgement,
          }),
      }
    const digest = digestOf({
      agent: caller.id,
      action: tool.name,
      target: touch.target ?? '',
      content: jsonOf(input),
      schema: schemaHash(tool),
    })
    return {
      mode: 'wait',
      digest,
      async open(tx, call) {
        const { refused } = await volume.take(tx, caller.id, touch.domain)
        if (refused) throw new CoworkError(refused.code, refused.message, refused)
        return approvals.open(tx, caller, call.id, openingOf(attempted, judgement, digest))
      },
    }
  }
}

/** Arguments as they are stored and shown; what is not JSON has no digest. */
const jsonOf = (input: unknown): unknown => JSON.parse(canonicalJson(input))
