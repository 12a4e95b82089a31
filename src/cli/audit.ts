import { setTimeout as sleep } from 'node:timers/promises'
import { formatRfc3339 } from '#base/clock.ts'
import type { RouteAnswers } from '#wire'
import {
  command,
  flag,
  isInteger,
  localCommand,
  repeated,
  required,
  text,
  toolCommand,
  integer,
  withDefault,
} from './command.ts'
import type { CommandSpec } from './command.ts'
import { usageError } from './exit.ts'
import { formatFields, sanitizeForTerminal } from './output.ts'

type LedgerEntry = RouteAnswers['GET /api/ledger']['entries'][number]

const pollMs = 250
const pageSize = 1000

export const linesOption = (count: number) =>
  withDefault(integer('-n, --lines <count>', 'number of lines to show'), count)
export const followOption = () => flag('-f, --follow', 'follow new output')

export const auditCommand: CommandSpec = {
  usage: 'audit',
  summary: 'read, verify and export the ledger',
  commands: [
    localCommand({
      usage: 'tail',
      summary: 'show the newest entries',
      options: {
        lines: linesOption(20),
        follow: followOption(),
        type: text('--type <type>', 'show only this entry type, such as call.done'),
        actor: text('--actor <id>', 'show only this agent or person'),
      },
      async act({ client, out, options }) {
        const { type, actor } = options
        const read = (page: object) => client.get('/api/ledger', { ...page, type, actor })
        const show = (entries: readonly LedgerEntry[]) => {
          for (const entry of entries) out.data(entry, () => [formatEntryLine(entry)])
        }
        const limit = Math.min(options.lines, pageSize)
        const { size, entries } = await read({ newest: true, limit })
        show(entries)
        // Not `size`: an entry may be added between the page query and the count.
        let after = entries.at(-1)?.seq ?? (options.lines === 0 ? size : 0)
        while (options.follow) {
          const page = await read({ after, limit: pageSize })
          show(page.entries)
          after = page.entries.at(-1)?.seq ?? after
          if (page.entries.length < pageSize) await sleep(pollMs)
        }
      },
    }),
    localCommand({
      usage: 'verify [path]',
      summary: 'verify the store, an exported folder or a receipt',
      options: {
        deep: flag('--deep', 'also re-encode every entry and check its schema'),
        key: text('--key <key>', 'trust this public key (text or file)'),
        checkpoint: repeated(
          '--checkpoint <note>',
          'compare with this checkpoint, as text or file (repeatable)',
        ),
      },
      act: async (call) =>
        (await import('./audit-verify.ts')).verify(call, call.args[0], call.options),
    }),
    // For verifiers who have only the public key (L6).
    command({
      usage: 'prove <seq>',
      summary: 'print the inclusion proof of an entry',
      run: ({ client, args: [seq] }) =>
        client.get('/api/ledger/{seq}/proof', { seq: parseEntryNumber(seq) }),
      show: (proof) => [
        ...formatFields({
          entry: proof.entry,
          leaf: `${proof.index} of ${proof.size}`,
          path: proof.path.join(' ') || 'none (the tree has one entry)',
          key: proof.vkey,
        }),
        'checkpoint:',
        ...proof.checkpoint
          .trimEnd()
          .split('\n')
          .map((note) => `  ${sanitizeForTerminal(note)}`),
      ],
    }),
    localCommand({
      usage: 'receipt <call>',
      summary: 'write the entries and proofs of one call to a file',
      options: { out: text('--out <file>', 'output file (default: receipt-<call>.json)') },
      act: async (call) =>
        (await import('./audit-verify.ts')).receipt(call, call.args[0], call.options),
    }),
    localCommand({
      usage: 'export <folder>',
      summary: 'export the ledger for offline verification',
      act: async (call) => (await import('./audit-verify.ts')).exportLedger(call, call.args[0]),
    }),
  ],
}

export const ledgerCommand: CommandSpec = {
  usage: 'ledger',
  summary: 'erase content or accept unsigned entries',
  commands: [
    // The entry stays, and a new one records the erasure (L8).
    toolCommand({
      usage: 'redact <seq>',
      summary: 'erase the content of an entry; keep the entry',
      options: {
        reason: required(text('--reason <text>', 'reason, shown to readers of the ledger')),
      },
      tool: 'cowork_redact',
      input: ({ args: [seq], options: { reason } }) => ({ seq: parseEntryNumber(seq), reason }),
      json: (_, { args: [seq] }) => ({ seq: Number(seq), erased: true }),
      show: (_, { args: [seq] }) =>
        `Erased the content of entry ${Number(seq)}. The entry and its proofs remain.`,
    }),
    localCommand({
      usage: 'accept',
      summary: 'accept entries without signature and MAC (daemon stopped)',
      options: {
        reason: required(
          text('--reason <text>', 'reason, shown to everyone who verifies the ledger'),
        ),
      },
      act: async (call) => (await import('./ledger-accept.ts')).accept(call, call.options),
    }),
  ],
}

function formatEntryLine({
  seq,
  at,
  type,
  actor,
  domain,
  subject,
  outcome,
  data,
}: LedgerEntry): string {
  const tool = data?.['tool']
  const about = [typeof tool === 'string' ? tool : domain, subject, outcome && `(${outcome})`]
  const rest = about.filter(Boolean).join(' ')
  return sanitizeForTerminal(
    `${String(seq).padStart(6)}  ${formatRfc3339(at)}  ${type.padEnd(18)} ${actor.id.padEnd(16)} ${rest}`,
  ).trimEnd()
}

/** Parses the number when the command runs, after commander has checked the usage. */
function parseEntryNumber(value: string): number {
  if (isInteger(value)) return Number(value)
  throw usageError(`Invalid entry number: "${value}".`, 'Run `cowork audit tail` to list entries.')
}
