import type { CallAttempt, Refusal, Verdict } from '#base/call-check.ts'
import type { Caller, Role } from '#base/caller.ts'
import { matchesGlob } from '#base/glob.ts'
import { canonicalJson, sha256Hex } from '#base/hash.ts'
import { isCallable } from '#base/selection.ts'
import type { Tool } from '#base/tool.ts'
import type { Approval, Approvals, Halt, Halts } from '#approvals'
import type { CallVerdict } from '#governance'
import type { Identity } from '#identity'

/**
 * A check that can refuse a call. app.ts passes the list to dispatch, so no module imports a
 * sibling to refuse calls. The first refusal wins; a wait counts only if no check refuses.
 */
export type Check = (attempt: CallAttempt) => CallVerdict | Promise<CallVerdict>

const act: Verdict = { mode: 'act' }

/** Checks the kind of caller; without it, an agent could approve its own requests (A3). */
export const checkCallerKind =
  (reviewUrl: () => string) =>
  ({ tool, caller }: Pick<CallAttempt, 'tool' | 'caller'>): Verdict => {
    if (tool.by === 'anyone' || caller.kind === 'system') return act
    if (tool.by === caller.kind) return act
    return tool.by === 'human'
      ? {
          mode: 'refuse',
          code: 'human_required',
          message: 'HumanRequiredError: Only a person can do this.',
          hint: `Stop and tell the user: ${reviewUrl()}`,
          details: {
            error: true,
            error_type: 'HumanRequiredError',
            tool: tool.name,
            review_url: reviewUrl(),
          },
        }
      : {
          mode: 'refuse',
          code: 'agent_required',
          message: `${tool.name} is for agents only.`,
          hint: 'Call it over MCP with an agent token.',
        }
  }

const rank: Record<Role, number> = { viewer: 0, reviewer: 1, owner: 2 }

/**
 * Returns the minimum role for a tool: viewers read, reviewers write, and tools may set another
 * role (I6).
 */
export const requiredRole = (tool: Tool): Role =>
  tool.role ?? (tool.effect === 'read' ? 'viewer' : 'reviewer')

/**
 * True if the caller has the required role. Agents have scopes instead of roles; a person without
 * a role has no access.
 */
export const hasRole = (caller: Caller, tool: Tool): boolean =>
  caller.kind !== 'human' ||
  (caller.role !== undefined && rank[caller.role] >= rank[requiredRole(tool)])

export const checkRole: Check = ({ tool, caller }) =>
  hasRole(caller, tool)
    ? act
    : {
        mode: 'refuse',
        code: 'role_required',
        message: `${tool.name} requires the role ${requiredRole(tool)}; ${caller.id} has ${caller.role ? `the role ${caller.role}` : 'no role'}.`,
        hint: 'Ask an owner to do this or to change the role.',
        details: { role: requiredRole(tool) },
      }

/**
 * Requires a passkey for high risk, if the person has one (I6): once in five minutes for settings,
 * each time for a decision. A confirmation covers one call with the digests that it approves, and
 * is consumed by it.
 */
export const checkPasskey =
  (
    passkeys: Pick<Identity['passkeys'], 'has' | 'takeConfirmed'>,
    approvals: Pick<Approvals, 'get'>,
  ): Check =>
  async ({ tool, caller, input }) => {
    if (caller.kind !== 'human' || !(tool.requiresPasskey || tool.approves)) return act
    if (tool.requiresPasskey && caller.assured) return act
    if (!(await passkeys.has(caller.id))) return act
    const required = {
      mode: 'refuse',
      code: 'passkey_required',
      message: `${tool.name} needs your passkey.`,
      hint: 'Confirm in the console (`cowork open`) and repeat the action there within 5 minutes.',
    } as const
    if (tool.requiresPasskey) return required
    const ids = tool.approves?.(input) ?? []
    const known = ids === 'unknown' ? [] : ids
    const granted = await Promise.all(known.map((id) => approvals.get(id)))
    if (ids !== 'unknown' && !granted.some(needsPasskey)) return act
    const digests = granted.map((approval) => approval?.digest ?? null)
    const decision = sha256Hex(
      canonicalJson({ tool: tool.name, input: toPlainJson(input), digests }),
    )
    if (passkeys.takeConfirmed(caller.session, decision)) return act
    return {
      ...required,
      hint: 'Decide in the console (`cowork open`) with your passkey.',
      details: { decision },
    }
  }

/** Approving a new domain sets its policy, like a policy change. */
const needsPasskey = (approval: Approval | undefined): boolean =>
  approval?.risk === 'high' || approval?.kind === 'permission'

const toPlainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Returns the required scopes: the tool's own (U7), else effect and toolset, for example `write:files` (I11). */
const requiredScopes = ({ scopes, effect, toolset }: Tool): readonly string[] =>
  scopes ?? [`${effect}:${toolset}`]

export const hasScope = (caller: Caller, tool: Tool): boolean =>
  caller.kind === 'system' ||
  requiredScopes(tool).every((needed) => caller.scopes.some((scope) => matchesGlob(scope, needed)))

export const checkScope: Check = ({ tool, caller }) =>
  hasScope(caller, tool)
    ? act
    : {
        mode: 'refuse',
        code: 'scope_missing',
        message: `${caller.id} cannot call ${tool.name}: scope ${requiredScopes(tool).join(' and ')} is required.`,
        hint: 'Tell the user to extend the scopes of this agent in cowork.yaml, or to revoke it and add it again with other scopes.',
      }

/** Tools that cannot be excluded: an agent can always follow and withdraw its own requests. */
const alwaysCallable = ['cowork_check_approval', 'cowork_withdraw']

/** Refuses tools that the agent or its connection excludes (SV18). */
export const checkSelected: Check = ({ tool, caller }) => {
  const { selection } = caller
  if (!selection || isCallable(selection, tool) || alwaysCallable.includes(tool.name)) return act
  const isExcluded = !isCallable({ ...selection, readOnly: false }, tool)
  const why = isExcluded ? 'excludes this tool' : 'is read-only'
  return {
    mode: 'refuse',
    code: 'tool_excluded',
    message: `${tool.name} is not available: the selection of ${caller.id} ${why}.`,
    hint: `Do not work around this. Tell the user to change the tools with \`cowork agents set ${caller.id}\` or in the connection of this client.`,
  }
}

/** Refuses calls during a halt, in every mode (A9, M5). */
export const checkHalt =
  (halts: Pick<Halts, 'findCovering'>): Check =>
  async ({ caller, touch }) => {
    const halt = await halts.findCovering(caller, touch)
    return halt ? { mode: 'refuse', ...haltRefusal(halt) } : act
  }

export const haltRefusal = (halt: Halt): Refusal => ({
  code: 'halted',
  message: `Halted by ${halt.by} (${halt.scope})${halt.reason && `: ${halt.reason}`}`,
  hint: 'Stop and tell the user to run `cowork resume`.',
  details: { halt },
})
