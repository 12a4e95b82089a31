import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import { effort } from '#base/soft-limit.ts'
import { forAnyone } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import { visibilityFilter } from '#ledger'
import type { Entry } from '#ledger'
import type { GovernanceDeps } from './index.ts'
import { toTrustResult } from './trust.ts'
import { domain, agentFields } from './shared-schemas.ts'
import { trustResults } from '../wire/trust.ts'
import type { StatusResult } from '../wire/trust.ts'

const maxPending = 50

export const statusTool = ({ governance, ledger, identity, halts, version }: GovernanceDeps) =>
  defineTool({
    ...forAnyone.read,
    name: 'cowork_status',
    title: 'Status',
    description:
      'Show your identity, halts, trust per domain and pending requests. Call it first, or when unsure what to do next.',
    core: true,
    input: z.object({
      ...agentFields,
      domain: domain.optional(),
      include_timeline: z.boolean().default(false),
      timeline_limit: effort(z.int().min(1).max(200)).default(20),
    }),
    output: trustResults.cowork_status,
    lean: leanStatus,
    async read({ agent_id, domain: where, include_timeline, timeline_limit }, { caller }) {
      const { store, db, inbox, handoffs } = governance
      const checkpoint = await ledger.latestCheckpoint()
      const agent = caller.kind === 'agent' ? caller.id : agent_id
      const visibility = caller.kind === 'agent' ? visibilityFilter(caller) : { actor: agent_id }
      const timeline = include_timeline
        ? await ledger.find({
            ...visibility,
            domain: where,
            limit: timeline_limit,
            newestFirst: true,
          })
        : undefined
      const pairs = await store.all(db, { agent, domain: where })
      const query = { agent, domain: where, limit: maxPending }
      const waiting = await inbox.listPending(caller, query)
      const { kind, id, verified, session } = caller
      return {
        version,
        auth: identity.mode(),
        caller: { kind, id, verified, session },
        halts: await halts.list(),
        ledger: { size: await ledger.size(), checkpoint: checkpoint?.size ?? null },
        trust: await Promise.all(
          pairs.map(({ trust, ...pair }) =>
            toTrustResult(governance, { pair, stored: trust, caller }),
          ),
        ),
        pending: waiting.count,
        pending_proposals: waiting.items,
        pending_handoffs: await handoffs.listPending(caller, query),
        ...(timeline && { timeline: timeline.map(toEvent) }),
      }
    },
  })

function toEvent({ seq, at, type, actor, domain, subject, outcome, data }: Entry) {
  const tool = data?.['tool']
  return {
    seq,
    at: formatRfc3339(at),
    type,
    actor: actor.id,
    ...(domain !== undefined && { domain }),
    ...(subject !== undefined && { subject }),
    ...(typeof tool === 'string' && { tool }),
    ...(outcome !== undefined && { outcome }),
  }
}

/** Selects the fields that an agent needs: its identity, pending requests and trust. The rest is for people (RA15). */
function leanStatus(status: StatusResult) {
  const { auth, caller, halts, trust, pending, timeline } = status
  const { pending_proposals: proposals, pending_handoffs: handoffs } = status
  return {
    auth,
    caller: { id: caller.id, verified: caller.verified },
    ...(halts.length > 0 && { halts }),
    pending,
    ...(proposals.length > 0 && {
      pending_proposals: proposals.map(
        ({ id, kind, domain: where, action, target, created_at }) => ({
          id,
          kind,
          domain: where,
          action,
          target,
          created_at,
        }),
      ),
    }),
    ...(handoffs.length > 0 && {
      pending_handoffs: handoffs.map(({ handoff_id, domain: where, reason, overdue }) => ({
        handoff_id,
        domain: where,
        reason,
        ...(overdue && { overdue }),
      })),
    }),
    ...(trust.length > 0 && {
      trust: trust.map(({ domain: where, trust_level, mode, to_go, evidence_note: note }) => ({
        domain: where,
        trust_level,
        mode,
        to_go,
        ...(note !== undefined && { evidence_note: note }),
      })),
    }),
    ...(timeline && { timeline }),
  }
}
