import { setTimeout as sleep } from 'node:timers/promises'
import { rfc3339 } from '#base/clock.ts'
import type { Entry, EntryProof } from '#ledger'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { fields, shown } from './output.ts'

export type TailOptions = {
  readonly lines: number
  readonly follow?: boolean
  readonly type?: string
  readonly actor?: string
}
type Page = { size: number; entries: Entry[] }

const pollMs = 250
const pageSize = 1000

/** The newest entries, then, if asked for, each one as it comes. */
export async function tail(context: Context, { lines, follow = false, type, actor }: TailOptions) {
  const { out } = context
  const client = createClient(context)
  const read = (page: object) => client.get<Page>('/api/ledger', { ...page, type, actor })
  const show = (entries: readonly Entry[]) => {
    for (const entry of entries) out.data(entry, () => [line(entry)])
  }
  const { size, entries } = await read({ newest: true, limit: Math.min(lines, pageSize) })
  show(entries)
  // Not `size`: an entry may have come between reading the page and counting.
  let after = entries.at(-1)?.seq ?? (lines === 0 ? size : 0)
  while (follow) {
    const page = await read({ after, limit: pageSize })
    show(page.entries)
    after = page.entries.at(-1)?.seq ?? after
    if (page.entries.length < pageSize) await sleep(pollMs)
  }
}

function line({ seq, at, type, actor, domain, subject, outcome, data }: Entry): string {
  const tool = data?.['tool']
  const about = [typeof tool === 'string' ? tool : domain, subject, outcome && `(${outcome})`]
  const rest = about.filter(Boolean).join(' ')
  return shown(
    `${String(seq).padStart(6)}  ${rfc3339(at)}  ${type.padEnd(18)} ${actor.id.padEnd(16)} ${rest}`,
  ).trimEnd()
}

/** That an entry is in the ledger a checkpoint signs, for someone who has only the public key (L6). */
export async function prove(context: Context, seq: number) {
  const proof = await createClient(context).get<EntryProof>(`/api/ledger/${seq}/proof`)
  context.out.data(proof, () => [
    ...fields({
      entry: proof.entry,
      leaf: `${proof.index} of ${proof.size}`,
      path: proof.path.join(' ') || 'none: the entry is the whole tree',
      key: proof.vkey,
    }),
    'checkpoint:',
    ...proof.checkpoint
      .trimEnd()
      .split('\n')
      .map((text) => `  ${shown(text)}`),
  ])
}
