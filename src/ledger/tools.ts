import * as z from 'zod'
import { toActor } from '#base/caller.ts'
import { effort } from '#base/soft-limit.ts'
import { CoworkError } from '#base/errors.ts'
import { forPeople } from '#base/builtin-tools.ts'
import { defineTool } from '#base/tool.ts'
import type { Tool } from '#base/tool.ts'
import { toAuditEntries, callEndTypes } from './audit-entry.ts'
import type { Entry } from './model.ts'
import type { Ledger } from './service.ts'
import { visibilityFilter } from './search.ts'
import { ledgerResults } from './wire.ts'
import type { AuditEntry } from './wire.ts'

export const ledgerTools = (
  ledger: Ledger,
  /** Returns the path prefixes for a filter. */
  toPathPrefixes: (filter: string) => readonly string[] = (filter) => [filter],
): Tool[] => [
  defineTool({
    name: 'get_audit_log',
    title: 'Audit log',
    description: 'List calls, newest first. Agents see their own calls, people see all.',
    toolset: 'files',
    effect: 'read',
    by: 'anyone',
    input: z.strictObject({
      path_filter: z.string().max(4096).optional().describe('Path prefix'),
      operation_filter: z
        .string()
        .max(128)
        .optional()
        .describe('Tool name prefix: `read` finds read_file'),
      date_from: z.string().optional().describe('Date or RFC 3339 time, UTC'),
      limit: effort(z.int().min(1).max(1000)).default(100),
    }),
    output: ledgerResults.get_audit_log,
    async read({ path_filter, operation_filter, date_from, limit }, { caller }) {
      const prefixes = toPathPrefixes(path_filter ?? '')
      const find = (pathPrefix: string | undefined) =>
        ledger.find({
          types: callEndTypes,
          ...visibilityFilter(caller, date_from === undefined ? undefined : parseDate(date_from)),
          pathPrefix,
          // Every call has a tool.
          toolPrefix: operation_filter ?? '',
          limit,
          newestFirst: true,
        })
      const results = await Promise.all(path_filter ? prefixes.map(find) : [find(undefined)])
      const lines = mergeNewestFirst(results.flat()).flatMap(toAuditEntries)
      const matchesPath = ({ path = '' }: AuditEntry) =>
        prefixes.some((prefix) => path.startsWith(prefix))
      return { entries: lines.filter(matchesPath).slice(0, limit) }
    },
  }),
  defineTool({
    ...forPeople.destructive,
    name: 'cowork_redact',
    title: 'Erase a payload',
    description:
      'Erase the content of one ledger entry permanently. The entry and its proofs stay. The ledger records who erased it and why.',
    role: 'owner',
    requiresPasskey: true,
    input: z.object({
      seq: z.number().int().min(1).describe('Seq of the entry'),
      reason: z.string().trim().min(1).max(500).describe('Reason, recorded in the ledger'),
    }),
    output: ledgerResults.cowork_redact,
    describeTarget: ({ seq }) => ({ domain: 'cowork', target: String(seq) }),
    async transact(tx, { seq, reason }, { caller }) {
      await ledger.erase(tx, seq, reason, toActor(caller))
      return { seq, erased: true }
    },
  }),
]

/** Removes duplicates and sorts newest first. */
const mergeNewestFirst = (entries: readonly Entry[]): readonly Entry[] =>
  [...new Map(entries.map((entry) => [entry.seq, entry])).values()].toSorted(
    (a, b) => b.seq - a.seq,
  )

function parseDate(date: string): number {
  const at = Date.parse(date)
  if (Number.isNaN(at))
    throw new CoworkError(
      'invalid_input',
      `date_from is not a date: ${JSON.stringify(date.slice(0, 40))}.`,
      {
        hint: 'Use 2026-02-01 or 2026-02-01T10:30:00Z.',
      },
    )
  return at
}
