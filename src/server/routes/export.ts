import * as z from 'zod'
import { formatRfc3339 } from '#base/clock.ts'
import type { Log } from '#base/log.ts'
import type { EntryConditions, Ledger, HashedEntry } from '#ledger'
import { streamResponse } from '../stream.ts'
import { conditionFields, toEntryConditions, rangeFields } from './filters.ts'
import { defineRoute } from './route.ts'

type Deps = { readonly ledger: Ledger; readonly log: Log }

const pageSize = 500

/**
 * Exports entries. JSONL lines are the canonical bytes, so a downloaded line hashes to its leaf.
 */
export const exportRoute = ({ ledger, log }: Deps) =>
  defineRoute({
    method: 'GET',
    path: '/api/ledger/export',
    summary: 'Filtered entries as a file',
    by: 'anyone',
    query: z.strictObject({
      format: z.enum(['jsonl', 'csv']).default('jsonl'),
      ...rangeFields,
      ...conditionFields,
    }),
    answer: {
      media: 'application/jsonl',
      description: 'One entry per line; text/csv with format=csv',
    },
    async run({ query: { format, ...asked } }, c) {
      const conditions = toEntryConditions(c.get('caller'), asked)
      const day = formatRfc3339(Date.now()).slice(0, 10)
      const lines = format === 'csv' ? formatCsv : formatJsonl
      return streamResponse(c, () => lines(readPages(ledger, conditions)), {
        type: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8',
        headers: { 'Content-Disposition': `attachment; filename="cowork-ledger-${day}.${format}"` },
        log,
      })
    },
  })

/** Stops at the current last entry, because the ledger keeps growing. */
async function* readPages(
  ledger: Ledger,
  conditions: EntryConditions,
): AsyncGenerator<HashedEntry[], void> {
  const before = Math.min(conditions.before ?? Infinity, (await ledger.size()) + 1)
  for (let { after } = conditions; ;) {
    const page = await ledger.findHashed({ ...conditions, after, before, limit: pageSize })
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    after = page.at(-1)?.entry.seq
  }
}

async function* formatJsonl(pages: AsyncIterable<HashedEntry[]>): AsyncGenerator<string, void> {
  for await (const page of pages) yield page.map(({ body }) => `${body}\n`).join('')
}

async function* formatCsv(pages: AsyncIterable<HashedEntry[]>): AsyncGenerator<string, void> {
  yield `${Object.keys(columns).join(',')}\r\n`
  for await (const page of pages)
    yield page
      .map((recorded) =>
        Object.values(columns)
          .map((cell) => escapeCsvCell(cell(recorded)))
          .join(','),
      )
      .map((line) => `${line}\r\n`)
      .join('')
}

const columns: Record<string, (recorded: HashedEntry) => string | number | undefined> = {
  seq: ({ entry }) => entry.seq,
  time: ({ entry }) => formatRfc3339(entry.at),
  type: ({ entry }) => entry.type,
  actor_kind: ({ entry }) => entry.actor.kind,
  actor: ({ entry }) => entry.actor.id,
  session: ({ entry }) => entry.actor.session,
  domain: ({ entry }) => entry.domain,
  subject: ({ entry }) => entry.subject,
  tool: ({ entry }) => {
    const tool = entry.data?.['tool']
    return typeof tool === 'string' ? tool : undefined
  },
  outcome: ({ entry }) => entry.outcome,
  call: ({ entry }) => entry.ids?.call,
  proposal: ({ entry }) => entry.ids?.proposal,
  approval: ({ entry }) => entry.ids?.approval,
  data: ({ entry }) => entry.data && JSON.stringify(entry.data),
  hash: ({ hash }) => hash,
}

/** Agents choose subjects, and a spreadsheet executes cells that start like a formula. */
export function escapeCsvCell(cell: string | number | undefined): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
