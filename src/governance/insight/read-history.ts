import type { Entry, Ledger } from '#ledger'
import { createHistory, historyTypes } from './history.ts'
import type { History } from './history.ts'

type Source = Pick<Ledger, 'find'>
type Filter = Omit<Parameters<Ledger['find']>[0], 'limit' | 'after' | 'newestFirst'>

export type Period = { readonly start: number; readonly end: number }

/**
 * What happened in a period, with what it goes back to: whatever may still have waited when it began, all
 * handoffs, since those wait for ever, and the proposals that later acts name, however old.
 */
export async function readHistory(
  ledger: Source,
  { start, end }: Period,
  { longestWaitMs, calls = false }: { longestWaitMs: number; calls?: boolean },
): Promise<History> {
  const { read, history } = createHistory()
  const take = async (filter: Filter) => {
    for await (const entries of pagesOf(ledger, filter)) entries.forEach(read)
  }
  const since = start - longestWaitMs
  await take({
    types: ['handoff.created', 'handoff.resolved', 'approval.withdrawn'],
    until: since,
  })
  await take({ types: historyTypes, since, until: end })
  // What trust let an agent do is said in the entry of the call; to find those among all takes a while.
  if (calls)
    await take({
      types: ['call.started', 'call.done'],
      text: '"by":"trust"',
      since: start,
      until: end,
    })
  const named = [...history.executed, ...history.corrected].flatMap(
    ({ proposal }) => proposal ?? [],
  )
  for (const proposal of new Set(named))
    if (!history.asked.has(proposal)) await take({ types: historyTypes, proposal, until: since })
  return history
}

const pageSize = 1000

async function* pagesOf(ledger: Source, filter: Filter): AsyncGenerator<Entry[], void> {
  for (let after = 0; ;) {
    const entries = await ledger.find({ ...filter, after, limit: pageSize })
    const last = entries.at(-1)
    if (!last) return
    yield entries
    if (entries.length < pageSize) return
    after = last.seq
  }
}
