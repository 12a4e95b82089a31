import { isCompletedCall } from './audit-entry.ts'
import type { UnverifiedEntry } from './chain-verifier.ts'
import type { LedgerProblem } from './model.ts'

/** Keeps memory constant: at least this many of the newest ids are remembered. */
const minRememberedIds = 100_000
const maxFindings = 20

/**
 * Checks that recorded actions were allowed (L6): every call of an agent has a decision or an approval, no one approved
 * their own request, and no call ran twice. Reads entries in order of seq.
 */
export function createSemanticChecks() {
  const approved = createRecentIds()
  const done = createRecentIds()
  const findings: LedgerProblem[] = []
  const addFinding = (seq: number, why: string) => {
    if (findings.length < maxFindings) findings.push({ seq, why })
  }

  function read(seq: number, type: unknown, entry: UnverifiedEntry) {
    if (type === 'call.started') started(seq, entry)
    else if (isCompletedCall({ type, data: entry['data'] })) checkDone(seq, entry)
    else if (type === 'approval.approved') checkApproval(seq, entry)
    else if (type === 'payload.erased') erased(seq, entry, 'human')
    else if (type === 'payload.expired') erased(seq, entry, 'system')
  }

  /** Only people erase content, and the system when it expires (L8). */
  function erased(seq: number, { actor }: UnverifiedEntry, by: string) {
    if (field(actor, 'kind') !== by)
      addFinding(seq, `${String(field(actor, 'id'))} erased content without permission`)
  }

  function started(seq: number, { actor, data, ids }: UnverifiedEntry) {
    if (field(actor, 'kind') !== 'agent') return
    if (field(field(data, 'decision'), 'mode') === 'act') return
    const approval = field(ids, 'approval')
    if (typeof approval === 'string' && approved.has(approval)) return
    const who = String(field(actor, 'id'))
    addFinding(
      seq,
      `${who} ran call ${String(field(ids, 'call'))} without a decision or an approval`,
    )
  }

  function checkDone(seq: number, { ids }: UnverifiedEntry) {
    const call = field(ids, 'call')
    if (typeof call !== 'string') return
    if (!done.add(call)) addFinding(seq, `call ${call} ran twice`)
  }

  function checkApproval(seq: number, { actor, data, ids }: UnverifiedEntry) {
    const approval = field(ids, 'approval')
    if (typeof approval === 'string') approved.add(approval)
    const requester = field(data, 'requester')
    const deciders = [field(actor, 'id'), field(data, 'decided_by')]
    if (typeof requester === 'string' && deciders.includes(requester))
      addFinding(seq, `${requester} approved their own request ${String(approval)}`)
    else if (field(actor, 'kind') === 'agent')
      addFinding(seq, `the agent ${String(field(actor, 'id'))} approved ${String(approval)}`)
  }

  return { read, findings }
}

export function field(from: unknown, name: string): unknown {
  if (typeof from !== 'object' || from === null) return undefined
  return Object.hasOwn(from, name) ? Reflect.get(from, name) : undefined
}

/** Uses two generations: deleting ids from the front of a large Set takes V8 tens of µs each. */
function createRecentIds() {
  let young = new Set<string>()
  let old = new Set<string>()
  return {
    has: (id: string) => young.has(id) || old.has(id),
    /** Returns false for a known id. */
    add(id: string): boolean {
      if (young.size >= minRememberedIds) [young, old] = [new Set(), young]
      const { size } = young
      return young.add(id).size > size && !old.has(id)
    },
  }
}
