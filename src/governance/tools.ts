import * as z from 'zod'
import type { Halts } from '#approvals'
import { actorOf } from '#base/caller.ts'
import { rfc3339 } from '#base/clock.ts'
import { newId } from '#base/ids.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import type { Identity } from '#identity'
import { visibleEntries, visibleTo } from '#ledger'
import type { Entry, Ledger } from '#ledger'
import { trailOf } from './trail.ts'

/** Every tool of seed 001 takes these; the door has already compared them with the credential (I5). */
const who = {
  agent_id: z.string().max(128).optional().describe('Your agent id; needed in open mode only'),
}

export type GovernanceDeps = {
  readonly ledger: Ledger
  readonly identity: Identity
  readonly halts: Halts
  readonly version: string
}

export const governanceTools = (deps: GovernanceDeps): Tool[] => [
  logTool,
  auditTrailTool(deps),
  statusTool(deps),
]

const logTool = defineTool({
  name: 'cowork_log',
  title: 'Log an action',
  description:
    'Record an action you took and who acted: the agent, a human, or both. Give proposal_id to close the chain propose → approve → execute → verify.',
  toolset: 'cowork',
  core: true,
  effect: 'write',
  by: 'anyone',
  input: z.object({
    ...who,
    domain: z.string().min(1).max(128).describe('Where you acted, as in crm.deals'),
    action: z.string().min(1).max(200).describe('What you did, as in update_deal'),
    target: z.string().max(1000).describe('What you did it to, as in deal_12345'),
    actor: z.enum(['agent', 'human', 'collaborative']).default('agent'),
    proposal_id: z.string().max(128).optional(),
    phase: z.enum(['execute', 'verify']).default('execute'),
    details: z.unknown().optional().describe('Anything worth keeping with it, as JSON'),
  }),
  output: z.object({
    action_id: z.string(),
    domain: z.string(),
    action: z.string(),
    actor: z.string(),
    phase: z.string(),
    proposal_id: z.string().optional(),
    message: z.string(),
  }),
  text: (output) => output.message,
  touches: (input) => ({ domain: input.domain, target: input.target }),
  async change(tx, { domain, action, target, actor, phase, proposal_id }, { id, caller }) {
    const actionId = newId()
    tx.append({
      type: 'action.logged',
      actor: actorOf(caller),
      domain,
      subject: target,
      ids: { call: id, ...(proposal_id && { proposal: proposal_id }) },
      // `details` stay beside the `call.done` of this call, where they can be erased (L8).
      data: { action_id: actionId, action, actor, phase },
    })
    return {
      action_id: actionId,
      domain,
      action,
      actor,
      phase,
      ...(proposal_id && { proposal_id }),
      message: `LOGGED: ${action} on ${target} (${actor}, ${phase}). Action ${actionId}`,
    }
  },
})

const link = z.object({
  step: z.string(),
  seq: z.number(),
  at: z.string(),
  actor: z.string(),
  type: z.string(),
})

const auditTrailTool = ({ ledger }: GovernanceDeps) =>
  defineTool({
    name: 'cowork_audit_trail',
    title: 'Audit trail',
    description:
      'The chain propose → approve → execute → verify of one proposal, with its order checked.',
    toolset: 'cowork',
    effect: 'read',
    by: 'anyone',
    input: z.object({ ...who, proposal_id: z.string().min(1).max(128) }),
    output: z.object({
      proposal_id: z.string(),
      chain: z.array(link),
      missing: z.array(z.string()),
      in_order: z.boolean(),
      message: z.string(),
    }),
    text: (output) =>
      [
        output.message,
        ...output.chain.map(
          ({ step, at, actor, seq }) => `${at} ${step} by ${actor} (entry ${seq})`,
        ),
      ].join('\n'),
    async run({ proposal_id }, { caller }) {
      const found = await ledger.find({ proposal: proposal_id, limit: 1000 })
      const { chain, missing, inOrder } = trailOf(found.filter((entry) => visibleTo(caller, entry)))
      return {
        proposal_id,
        chain: chain.map((step) => ({ ...step, at: rfc3339(step.at) })),
        missing,
        in_order: inOrder,
        message:
          chain.length === 0
            ? `Nothing is recorded for proposal ${proposal_id}.`
            : `Proposal ${proposal_id}: ${inOrder ? 'in order' : 'OUT OF ORDER'}${missing.length > 0 ? `, without ${missing.join(', ')}` : ', complete'}.`,
      }
    },
  })

const event = z.object({
  seq: z.number(),
  at: z.string(),
  type: z.string(),
  actor: z.string(),
  domain: z.string().optional(),
  subject: z.string().optional(),
  tool: z.string().optional(),
  outcome: z.string().optional(),
})

const statusTool = ({ ledger, identity, halts, version }: GovernanceDeps) =>
  defineTool({
    name: 'cowork_status',
    title: 'Status',
    description:
      'Where things stand: who you are here, whether you may act, and what happened last.',
    toolset: 'cowork',
    core: true,
    effect: 'read',
    by: 'anyone',
    input: z.object({
      ...who,
      domain: z.string().max(128).optional(),
      include_timeline: z.boolean().default(false),
      timeline_limit: z.number().int().min(1).max(200).default(20),
    }),
    output: z.object({
      version: z.string(),
      auth: z.enum(['open', 'closed']),
      caller: z.object({
        kind: z.string(),
        id: z.string(),
        verified: z.boolean(),
        session: z.string(),
      }),
      halts: z.array(
        z.object({ scope: z.string(), reason: z.string(), by: z.string(), at: z.string() }),
      ),
      ledger: z.object({ size: z.number(), checkpoint: z.number().nullable() }),
      timeline: z.array(event).optional(),
    }),
    async run({ domain, include_timeline, timeline_limit }, { caller }) {
      const checkpoint = await ledger.latestCheckpoint()
      const seen = visibleEntries(caller)
      const timeline = include_timeline
        ? await ledger.find({ ...seen, domain, limit: timeline_limit, newestFirst: true })
        : undefined
      const { kind, id, verified, session } = caller
      return {
        version,
        auth: identity.mode(),
        caller: { kind, id, verified, session },
        halts: await halts.list(),
        ledger: { size: await ledger.size(), checkpoint: checkpoint?.size ?? null },
        ...(timeline && { timeline: timeline.map(eventOf) }),
      }
    },
  })

function eventOf({ seq, at, type, actor, domain, subject, outcome, data }: Entry) {
  const tool = data?.['tool']
  return {
    seq,
    at: rfc3339(at),
    type,
    actor: actor.id,
    ...(domain !== undefined && { domain }),
    ...(subject !== undefined && { subject }),
    ...(typeof tool === 'string' && { tool }),
    ...(outcome !== undefined && { outcome }),
  }
}
