import * as z from 'zod'
import { isOwn } from '#base/caller.ts'
import { rfc3339 } from '#base/clock.ts'
import { forAnyone } from '#base/own-tools.ts'
import { defineTool } from '#base/tool.ts'
import { visibleTo } from '#ledger'
import type { Ledger } from '#ledger'
import { trailOf } from '../trail.ts'
import { who } from './words.ts'
import { proposalResults } from '../wire/proposals.ts'

export const auditTrailTool = ({ ledger }: { readonly ledger: Ledger }) =>
  defineTool({
    ...forAnyone.read,
    name: 'cowork_audit_trail',
    title: 'Audit trail',
    description:
      'See what happened to one proposal: propose → approve → execute → verify, with its order checked.',
    input: z.object({ ...who, proposal_id: z.string().min(1).max(128) }),
    output: proposalResults.cowork_audit_trail,
    async read({ proposal_id }, { caller }) {
      const found = await ledger.find({ proposal: proposal_id, limit: 1000 })
      // Whose proposal it is sees all of it, the decisions of people too.
      const isTheirs = found.some(
        ({ type, actor, at }) =>
          type === 'proposal.created' && actor.kind === caller.kind && isOwn(caller, actor.id, at),
      )
      const seen = isTheirs ? found : found.filter((entry) => visibleTo(caller, entry))
      const { chain, missing, inOrder } = trailOf(seen)
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
