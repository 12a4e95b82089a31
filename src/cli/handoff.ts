import { resolveAgent, moreNotes, shortenIds } from './lookup.ts'
import { findApproval, readItems } from './approvals.ts'
import type { ApprovalItem } from './approvals.ts'
import { command, linesOption, flag, required, text, toolCommand } from './command.ts'
import { usageError } from './exit.ts'
import { formatHandoffResult, formatStatus } from './inbox/detail.ts'
import { showApproval } from './inbox/inbox.ts'
import { formatDuration } from './inbox/lines.ts'
import { tableOf } from './output.ts'
import { severity, type } from './trust.ts'

export const handoffCommand = command({
  usage: 'handoff',
  summary: 'what agents have handed over to people',
  options: {
    all: flag('--all', 'those that were answered too'),
    agent: text('--agent <id>', 'only of this agent'),
    domain: text('--domain <name>', 'only in this domain'),
    lines: linesOption(100),
  },
  async run({ client, options: { all, agent, domain, lines } }) {
    const status = all ? 'all' : 'pending'
    const wanted = {
      status,
      kind: 'handoff',
      agent: await resolveAgent(client, agent),
      domain,
    } as const
    const { items, next } = await readItems(client, wanted, lines)
    return { handoffs: items, next }
  },
  show({ handoffs }, { options: { all } }) {
    const short = shortenIds(handoffs.map(({ id }) => id))
    const now = Date.now()
    return tableOf(handoffs, 'Nothing is handed over to you.', {
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
    showApproval({ summary: 'one of them, with what the agent tried', kind: 'handoff' }),
    // Decides the proposal it is about in the same act where that is asked for (H2, H6).
    toolCommand({
      usage: 'resolve <id>',
      summary: 'answer one, and hand it back or not',
      options: {
        resolution: required(text('--resolution <text>', 'what you did or decided')),
        handBack: flag('--hand-back', 'the agent goes on; so it does where there are instructions'),
        instructions: text('--instructions <text>', 'what the agent is to do'),
        approve: flag('--approve', 'approve the proposal it is about, in the same act'),
        reject: flag('--reject', 'reject the proposal it is about'),
        type: type(),
        severity: severity(),
        reason: text('--reason <text>', 'why the proposal is rejected'),
      },
      check({ options: { approve, reject, ...override } }) {
        if (approve && reject)
          throw usageError('--approve and --reject decide the same proposal.', 'Use one of them.')
        if (reject && override.type === undefined)
          throw usageError(
            'Rejecting a proposal changes trust, so it says what was wrong (--type).',
            'It is agent_wrong, missing_context, edge_case, human_preference or policy_change.',
          )
        if (!reject && (override.type ?? override.severity ?? override.reason) !== undefined)
          throw usageError(
            '--type, --severity and --reason say why a proposal is rejected.',
            'Add --reject.',
          )
      },
      person: 'Answering a handoff',
      tool: 'cowork_resolve_handoff',
      input: async ({ client, args: [given], options }) => ({
        handoff_id: (await findApproval(client, given, 'handoff')).id,
        resolution: options.resolution,
        hand_back: options.handBack,
        instructions: options.instructions,
        decide_proposal: options.approve ? 'approve' : options.reject ? 'reject' : undefined,
        override_type: options.type,
        severity: options.severity,
        description: options.reason,
      }),
      show: (answered) => [formatHandoffResult(answered)],
      notes: ({ hand_back_refused: refused }) => (refused ? [refused.hint] : []),
    }),
  ],
})
