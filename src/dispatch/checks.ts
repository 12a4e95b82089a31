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
 * One reason why a call may not run. app.ts hands the list to dispatch, so no domain imports a sibling
 * to refuse a call. The first refusal wins; a wait counts only where nothing refuses.
 */
export type Check = (attempt: CallAttempt) => CallVerdict | Promise<CallVerdict>

const act: Verdict = { mode: 'act' }

/** Who may call it: without this an agent could approve itself (A3). */
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
          message: `${tool.name} is for agents.`,
          hint: 'Call it over MCP with an agent token.',
        }
  }

const rank: Record<Role, number> = { viewer: 0, reviewer: 1, owner: 2 }

/** The least role a person needs: looking is for all, acting for reviewers, the rest is said by the tool (I6). */
export const requiredRole = (tool: Tool): Role =>
  tool.role ?? (tool.effect === 'read' ? 'viewer' : 'reviewer')

/** A person without a role may nothing; agents have scopes instead. */
export const hasRole = (caller: Caller, tool: Tool): boolean =>
  caller.kind !== 'human' ||
  (caller.role !== undefined && rank[caller.role] >= rank[requiredRole(tool)])

export const checkRole: Check = ({ tool, caller }) =>
  hasRole(caller, tool)
    ? act
    : {
        mode: 'refuse',
        code: 'role_required',
        message: `${tool.name} is for ${requiredRole(tool)}s; ${caller.id} is ${caller.role ?? 'nobody'} here.`,
        hint: 'Ask an owner to do it, or to change the role.',
        details: { role: requiredRole(tool) },
      }

/**
 * High risk asks a person for their passkey, where they have one (I6): for settings once in five minutes, for a
 * decision each time. The confirmation is for that call and the digests of what it approves, and is used up by it.
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
      hint: 'Confirm with it in the console (`cowork open`), then do it there within 5 minutes.',
    } as const
    if (tool.requiresPasskey) return required
    const ids = tool.approves?.(input) ?? []
    const known = ids === 'unknown' ? [] : ids
    const granted = await Promise.all(known.map((id) => approvals.get(id)))
    if (ids !== 'unknown' && !granted.some(needsPasskey)) return act
    const digests = granted.map((approval) => approval?.digest ?? null)
    const decision = sha256Hex(canonicalJson({ tool: tool.name, input: jsonOf(input), digests }))
    if (passkeys.takeConfirmed(caller.session, decision)) return act
    return {
      ...required,
      hint: 'Decide in the console (`cowork open`), which asks for your passkey.',
      details: { decision },
    }
  }

/** Letting an agent into a new domain sets its policy, as a change of the policies would. */
const needsPasskey = (approval: Approval | undefined): boolean =>
  approval?.risk === 'high' || approval?.kind === 'permission'

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The scope a tool asks for is its effect and its toolset, as in `write:files` (I11). */
const scopeOf = (tool: Tool): string => `${tool.effect}:${tool.toolset}`

export const hasScope = (caller: Caller, tool: Tool): boolean =>
  caller.kind === 'system' || caller.scopes.some((scope) => matchesGlob(scope, scopeOf(tool)))

export const checkScope: Check = ({ tool, caller }) =>
  hasScope(caller, tool)
    ? act
    : {
        mode: 'refuse',
        code: 'scope_missing',
        message: `${caller.id} may not call ${tool.name}: it needs the scope ${scopeOf(tool)}.`,
        hint: 'Tell the user: they widen the scopes of this agent in cowork.yaml, or revoke it and add it anew with others.',
      }

/** Whatever is excluded, an agent can follow and withdraw what it asked for. */
const ofOwnRequests = ['cowork_check_approval', 'cowork_withdraw']

/** Refuses tools that the agent or its connection excludes (SV18). */
export const checkSelected: Check = ({ tool, caller }) => {
  const { selection } = caller
  if (!selection || isCallable(selection, tool) || ofOwnRequests.includes(tool.name)) return act
  const isExcluded = !isCallable({ ...selection, readOnly: false }, tool)
  const why = isExcluded ? 'has this tool excluded' : 'may only read here'
  return {
    mode: 'refuse',
    code: 'tool_excluded',
    message: `${tool.name} is refused: ${caller.id} ${why}.`,
    hint: `Do not work around it. Tell the user: \`cowork agents set ${caller.id}\` or the connection of this client chooses its tools.`,
  }
}

/** A halt turns every mode into refusal (A9, M5). */
export const checkHalt =
  (halts: Pick<Halts, 'findCovering'>): Check =>
  async ({ caller, touch }) => {
    const halt = await halts.findCovering(caller, touch)
    return halt ? { mode: 'refuse', ...haltRefusal(halt) } : act
  }

export const haltRefusal = (halt: Halt): Refusal => ({
  code: 'halted',
  message: `Halted by ${halt.by} (${halt.scope})${halt.reason && `: ${halt.reason}`}`,
  hint: 'Stop and tell the user: a person lifts it with `cowork resume`.',
  details: { halt },
})
