import { setTimeout as sleep } from 'node:timers/promises'
import { formatRfc3339 } from '#base/clock.ts'
import type { RouteAnswers } from '#wire'
import {
  command,
  flag,
  isWhole,
  localCommand,
  repeated,
  required,
  text,
  toolCommand,
  whole,
  withDefault,
} from './command.ts'
import type { Entry } from './command.ts'
import { usageError } from './exit.ts'
import { formatFields, sanitizeForTerminal } from './output.ts'

type LedgerEntry = RouteAnswers['GET /api/ledger']['entries'][number]

const pollMs = 250
const pageSize = 1000

export const lines = (count: number) => withDefault(whole('-n, --lines <count>', 'how many'), count)
export const follow = () => flag('-f, --follow', 'go on with what comes')

export const auditCommand: Entry = {
  usage: 'audit',
  summary: 'read, check and export the ledger',
  commands: [
    // The newest entries, then, if asked for, each one as it comes.
    localCommand({
      usage: 'tail',
      summary: 'the newest entries',
      options: {
        lines: lines(20),
        follow: follow(),
        type: text('--type <type>', 'only entries of this type, such as call.done'),
        actor: text('--actor <id>', 'only entries of this agent or person'),
      },
      async act({ client, out, options }) {
        const { type, actor } = options
        const read = (page: object) => client.get('/api/ledger', { ...page, type, actor })
        const show = (entries: readonly LedgerEntry[]) => {
          for (const entry of entries) out.data(entry, () => [line(entry)])
        }
        const limit = Math.min(options.lines, pageSize)
        const { size, entries } = await read({ newest: true, limit })
        show(entries)
        // Not `size`: an entry may have come between reading the page and counting.
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
      summary: 'check the store, an exported folder, or a receipt',
      options: {
        deep: flag('--deep', 'also spell every entry anew and check its shape'),
        key: text('--key <key>', 'the public key to trust, or a file with it'),
        checkpoint: repeated(
          '--checkpoint <note>',
          'a checkpoint that you kept, as text or file; may repeat',
        ),
      },
      act: async (call) =>
        (await import('./audit-verify.ts')).verify(call, call.args[0], call.options),
    }),
    // For someone who has only the public key (L6).
    command({
      usage: 'prove <seq>',
      summary: 'the proof that an entry is in the ledger',
      run: ({ client, args: [seq] }) =>
        client.get('/api/ledger/{seq}/proof', { seq: entryNumber(seq) }),
      show: (proof) => [
        ...formatFields({
          entry: proof.entry,
          leaf: `${proof.index} of ${proof.size}`,
          path: proof.path.join(' ') || 'none: the entry is the whole tree',
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
      summary: 'write the entries of one call with their proofs into a file',
      options: { out: text('--out <file>', 'the file to write (default: receipt-<call>.json)') },
      act: async (call) =>
        (await import('./audit-verify.ts')).receipt(call, call.args[0], call.options),
    }),
    localCommand({
      usage: 'export <folder>',
      summary: 'write the ledger where verify can check it',
      act: async (call) => (await import('./audit-verify.ts')).exportLedger(call, call.args[0]),
    }),
  ],
}

export const ledgerCommand: Entry = {
  usage: 'ledger',
  summary: 'change what the ledger keeps',
  commands: [
    // The entry, and that its payload was erased, stay (L8).
    toolCommand({
      usage: 'redact <seq>',
      summary: 'erase what is kept beside an entry; the entry stays',
      options: { reason: required(text('--reason <text>', 'why, for whoever reads the ledger')) },
      tool: 'cowork_redact',
      input: ({ args: [seq], options: { reason } }) => ({ seq: entryNumber(seq), reason }),
      json: (_, { args: [seq] }) => ({ seq: Number(seq), erased: true }),
      show: (_, { args: [seq] }) =>
        `What was kept beside entry ${Number(seq)} is erased. The entry and its proofs stay.`,
    }),
    localCommand({
      usage: 'accept',
      summary: 'accept entries that are neither signed nor covered by a MAC, while no daemon runs',
      options: {
        reason: required(text('--reason <text>', 'why, for everyone who verifies the ledger')),
      },
      act: async (call) => (await import('./ledger-accept.ts')).accept(call, call.options),
    }),
  ],
}

function line({ seq, at, type, actor, domain, subject, outcome, data }: LedgerEntry): string {
  const tool = data?.['tool']
  const about = [typeof tool === 'string' ? tool : domain, subject, outcome && `(${outcome})`]
  const rest = about.filter(Boolean).join(' ')
  return sanitizeForTerminal(
    `${String(seq).padStart(6)}  ${formatRfc3339(at)}  ${type.padEnd(18)} ${actor.id.padEnd(16)} ${rest}`,
  ).trimEnd()
}

/** Read when the command runs, where commander no longer says what is wrong. */
function entryNumber(given: string): number {
  if (isWhole(given)) return Number(given)
  throw usageError(`"${given}" is not the number of an entry.`, '`cowork audit tail` shows them.')
}
