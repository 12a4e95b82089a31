import type { Reader } from '#base/db/port.ts'
import type { Entry } from './model.ts'
import type { LedgerStore } from './store.ts'

/** Other records of the same content: approvals, calls, and entries with arguments of their own. */
export type Relatives = {
  readonly approvals: readonly string[]
  readonly calls: readonly string[]
  readonly seqs: readonly number[]
}

const most = 1000
const opened = ['approval.requested', 'proposal.created', 'handoff.created']
const decided = ['approval.approved', 'handoff.resolved']
const ended = ['call.started', 'call.done', 'call.failed', 'call.refused']

/** Finds what repeats the content of an entry (L8): the approval of the call, and the edit that a person made of it. */
export async function findRelatives(
  reader: Reader,
  store: Pick<LedgerStore, 'find'>,
  entry: Entry,
): Promise<Relatives> {
  const find = async (
    filter: { call: string } | { text: string; since: number; types: string[] },
  ) =>
    (await store.find(reader, { ...filter, limit: most })).map(
      ({ body }) => JSON.parse(body) as Entry,
    )
  const ofCall = async (call: string | undefined) => (call === undefined ? [] : find({ call }))

  const own = isContent(entry) ? await ofCall(entry.ids?.call) : []
  const approvals = new Set([entry, ...own.filter(isContent)].flatMap(approvalOf))
  const seqs = new Set(own.filter(hasArguments).map(({ seq }) => seq))
  for (const id of approvals) {
    const about = await find({
      text: id,
      since: timeOfId(id),
      types: [...opened, ...decided, ...ended],
    })
    for (const other of about)
      if (isContent(other) && approvalOf(other).includes(id))
        for (const one of await ofCall(other.ids?.call)) if (hasArguments(one)) seqs.add(one.seq)
  }
  const calls = isContent(entry) && entry.ids?.call !== undefined ? [entry.ids.call] : []
  return { approvals: [...approvals], calls, seqs: [...seqs] }
}

/** A decision repeats the content only where a person wrote something else in its place. */
const isContent = ({ type, data }: Entry) =>
  opened.includes(type) ||
  ended.includes(type) ||
  type === 'handoff.resolved' ||
  data?.['collaborative'] === true

/** A call under a standing permission names the approval of another call, unless it used that one up. */
function approvalOf({ type, ids, data }: Entry): string[] {
  if (ids?.approval === undefined) return []
  if (!ended.includes(type)) return [ids.approval]
  const { by, claimed } = (data?.['decision'] ?? {}) as { by?: unknown; claimed?: unknown }
  const isOwn = by !== undefined && (by !== 'permission' || claimed === true)
  return isOwn ? [ids.approval] : []
}

const hasArguments = ({ payload }: Entry) => payload !== undefined

/** Ids of approvals open with the time at which they were made (UUID version 7). */
const timeOfId = (id: string): number => {
  const at = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  return Number.isNaN(at) ? 0 : at - 60_000
}
