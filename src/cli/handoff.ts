import { resolveAgent, moreNotes, shortenIds } from './lookup.ts'
import { findApproval, readItems } from './approvals.ts'
import type { ApprovalItem } from './approvals.ts'
import { command, linesOption, flag, required, text, toolCommand } from './command.ts'
import { usageError } from './exit.ts'
import { formatHandoffResult, formatStatus } from './inbox/detail.ts'
import { showApproval } from './inbox/inbox.ts'
import { formatDuration } from './inbox/lines.ts'
import { formatRows } from './output.ts'
import { severityOption, typeOption } from './trust.ts'

export const handoffCommand = command({
  usage: 'handoff',
  summary: 'manage handoffs',
  options: {
    all: flag('--all', 'include resolved handoffs'),
    agent: text('--agent <id>', 'show only this agent'),
    domain: text('--domain <name>', 'show only this domain'),
    lines: linesOption(100),
  },
  async run({ client, options: { all, agent, domain, lines } }) {
    const status = all ? 'all' : 'pending'
    const filter = {
      status,
      kind: 'handoff',
      agent: await resolveAgent(client, agent),
      domain,
    } as const
    const { items, next } = await readItems(client, filter, lines)
    return { handoffs: items, next }
  },
  show({ handoffs }, { options: { all } }) {
    const short = shortenIds(handoffs.map(({ id }) => id))
    const now = Date.now()
    return formatRows(handoffs, 'No handoffs.', {
      ID: ({ id }) => short(id),
      ...(all && { STATUS: (item: ApprovalItem) => formatStatus(item) }),
      AS: (item) => item.action,
      AGENT: (item) => item.requester,
      DOMAIN: (item) => item.domain,
      AGE: (item) => formatDuration(now - Date.parse(item.created_at)),
      WHY: (item) => item.summary,
    })
  },
  notes: ({ next }) => moreNotes(next !== null),
  commands: [
    showApproval({ summary: 'show a handoff and what the agent tried', kind: 'handoff' }),
    // Can decide the proposal of the handoff in the same transaction (H2, H6).
    toolCommand({
      usage: 'resolve <id>',
      summary: 'resolve a handoff, and hand it back or keep it',
      options: {
        resolution: required(text('--resolution <text>', 'what you did or decided')),
        handBack: flag('--hand-back', 'hand back to the agent (implied by --instructions)'),
        instructions: text('--instructions <text>', 'instructions for the agent'),
        approve: flag('--approve', 'also approve the proposal'),
        reject: flag('--reject', 'also reject the proposal'),
        type: typeOption(),
        severity: severityOption(),
        reason: text('--reason <text>', 'reason of the rejection'),
      },
      check({ options: { approve, reject, ...override } }) {
        if (approve && reject)
          throw usageError('--approve and --reject cannot be combined.', 'Use one of them.')
        if (reject && override.type === undefined)
          throw usageError(
            'Rejecting a proposal changes trust and needs --type.',
            'Use agent_wrong, missing_context, edge_case, human_preference or policy_change.',
          )
        if (!reject && (override.type ?? override.severity ?? override.reason) !== undefined)
          throw usageError('--type, --severity and --reason need --reject.', 'Add --reject.')
      },
      person: 'Resolving a handoff',
      tool: 'cowork_resolve_handoff',
      input: async ({ client, args: [id], options }) => ({
        handoff_id: (await findApproval(client, id, 'handoff')).id,
        resolution: options.resolution,
        hand_back: options.handBack,
        instructions: options.instructions,
        decide_proposal: options.approve ? 'approve' : options.reject ? 'reject' : undefined,
        override_type: options.type,
        severity: options.severity,
        description: options.reason,
      }),
      show: (result) => [formatHandoffResult(result)],
      notes: ({ hand_back_refused: refused }) => (refused ? [refused.hint] : []),
    }),
  ],
})
