// Entries as the ledger has them, for what is made of them: each call is the next one.
import type { Entry } from '#ledger'
import { createHistory } from '../src/governance/insight/history.ts'
import type { History } from '../src/governance/insight/history.ts'

type Data = NonNullable<Entry['data']>
type More = {
  readonly at?: number
  readonly agent?: string
  readonly domain?: string
  readonly target?: string
  readonly kind?: string
  readonly by?: string
  readonly call?: string
  readonly data?: Data
}

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour
/** When a record begins, unless it says otherwise. */
export const begun = Date.parse('2026-03-01T00:00:00Z')

/** Where it is not a person. */
const deciders: Record<string, (agent: string) => Entry['actor']> = {
  'approval.expired': () => ({ kind: 'system', id: 'cowork' }),
  'approval.withdrawn': (agent) => ({ kind: 'agent', id: agent }),
}

export function createRecord() {
  const entries: Entry[] = []
  let time = begun

  function add(type: string, actor: Entry['actor'], more: More, rest: Partial<Entry>): number {
    time = more.at ?? time
    const seq = entries.length + 1
    const { domain = 'crm', target = 'deal-1' } = more
    entries.push({ v: 1, seq, at: time, prev: '', type, actor, domain, subject: target, ...rest })
    return seq
  }
  const agentOf = ({ agent = 'sales' }: More) => ({ kind: 'agent', id: agent }) as const
  const idsOf = (id: string, { kind = 'proposal', call }: More) => ({
    approval: id,
    ...(kind === 'proposal' && { proposal: id }),
    ...(kind === 'handoff' && { handoff: id }),
    ...(call !== undefined && { call }),
  })
  const opens: Record<string, string> = {
    proposal: 'proposal.created',
    handoff: 'handoff.created',
    grant: 'grant.requested',
  }

  const ended =
    (type: string) =>
    (id: string, more: More = {}) => {
      const { kind = 'proposal', agent = 'sales', by = 'anna', data } = more
      const actor = deciders[type]?.(agent) ?? ({ kind: 'human', id: by } as const)
      const named = type === 'approval.approved' && kind === 'handoff' ? 'handoff.resolved' : type
      const about = { kind, requester: agent, ...data }
      return add(named, actor, more, { ids: idsOf(id, more), data: about })
    }

  return {
    entries,
    pass: (ms: number) => void (time += ms),
    now: () => time,
    asked(id: string, more: More = {}) {
      const { kind = 'proposal', data } = more
      const type = opens[kind] ?? 'approval.requested'
      const about = { kind, action: 'update_deal', ...data }
      return add(type, agentOf(more), more, { ids: idsOf(id, more), data: about })
    },
    approved: ended('approval.approved'),
    rejected: (id: string, type?: string, severity = 'medium', more: More = {}) =>
      ended('approval.rejected')(id, {
        ...more,
        data: { ...(type !== undefined && { override: { type, severity } }), ...more.data },
      }),
    expired: ended('approval.expired'),
    withdrawn: ended('approval.withdrawn'),
    held: ended('approval.held'),
    undone: ended('approval.undone'),
    done: (proposal?: string, more: More = {}) =>
      add('action.logged', agentOf(more), more, {
        ids: { ...(proposal !== undefined && { proposal }) },
        data: { action: 'update_deal', actor: 'agent', phase: 'execute', ...more.data },
      }),
    corrected: (type: string, proposal?: string, more: More = {}) =>
      add('override.recorded', { kind: 'human', id: more.by ?? 'anna' }, more, {
        ids: { ...(proposal !== undefined && { proposal, approval: proposal }) },
        data: {
          requester: more.agent ?? 'sales',
          override: { type, severity: 'medium' },
          ...more.data,
        },
      }),
    acted: (more: More = {}) =>
      add('call.started', agentOf(more), more, {
        data: { tool: 'mail_send', decision: { mode: 'act', by: 'trust' } },
      }),
    history(): History {
      const { read, history } = createHistory()
      entries.forEach(read)
      return history
    },
  }
}
