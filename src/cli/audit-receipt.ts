import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { rfc3339 } from '#base/clock.ts'
import { formatReceipt, verifyReceipt } from '#ledger'
import type { Entry } from '#ledger'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { shown } from './output.ts'

/** Writes what happened in one call into a file that verifies offline with the public key (L16). */
export async function receipt(context: Context, call: string, { out: file }: { out?: string }) {
  const target = resolve(file ?? `receipt-${call.replaceAll(/[^\w-]/g, '_')}.json`)
  if (existsSync(target)) throw usage(`${target} exists already.`, 'Name another file with --out.')
  const written = await createClient(context).get('/api/ledger/receipts/{call}', { call })
  writeFileSync(target, formatReceipt(written), { flag: 'wx', mode: 0o600 })
  const { vkey, entries } = written
  context.out.data({ file: target, call, entries: entries.length, vkey }, () => [
    `${target} has ${countEntries(entries)} of call ${shown(call)}.`,
    `Check it anywhere with \`cowork audit verify ${target} --key ${vkey}\`.`,
  ])
}

export function verifyReceiptFile(
  { out }: Context,
  file: string,
  trusted: string | undefined,
): ExitCode {
  const { call, vkey, size, entries } = verifyReceipt(readFileSync(file), trusted)
  out.data({ ok: true, call, vkey, size, entries }, () => [
    `${out.style('green', 'OK')}: call ${shown(call)}, ${countEntries(entries)} of a ledger of ${size}`,
    ...entries.map((entry) => `  ${rfc3339(entry.at)}  ${shown(sentenceOf(entry))}`),
    `Signed by ${shown(vkey)}`,
  ])
  if (trusted === undefined)
    out.note(
      'The public key came from the receipt itself, so this proves only that the receipt is consistent. Pass the key of the ledger with --key.',
    )
  return exitCode.ok
}

const verbs: Record<string, string> = {
  'call.started': 'started',
  'call.done': 'completed',
  'call.failed': 'failed at',
  'call.refused': 'was refused',
  'proposal.created': 'proposed',
  'approval.requested': 'asked for a decision on',
  'approval.voted': 'voted on',
  'approval.held': 'decided, with time to undo,',
  'approval.undone': 'took back the decision on',
  'approval.approved': 'approved',
  'approval.rejected': 'rejected',
  'approval.expired': 'let expire',
  'approval.withdrawn': 'withdrew',
  'approval.unknown': 'lost the result of',
  'permission.granted': 'granted a permission for',
  'permission.revoked': 'revoked the permission for',
  'override.recorded': 'marked as wrong',
  'action.logged': 'reported',
}

/** One entry in words: who did what, to what, with which outcome. */
function sentenceOf({ type, actor, domain, subject, outcome, data }: Entry): string {
  const name = data?.['tool'] ?? data?.['action']
  const about = [
    typeof name === 'string' ? name : undefined,
    subject && `on ${subject}`,
    domain && `in ${domain}`,
    outcome && outcome !== type.split('.')[1] && `(${outcome})`,
  ]
  const who = `${actor.kind} ${actor.id}${actor.verified === false ? ' (not verified)' : ''}`
  return [who, verbs[type] ?? `recorded ${type} for`, ...about].filter(Boolean).join(' ')
}

const countEntries = ({ length }: readonly unknown[]) =>
  length === 1 ? '1 entry' : `${length} entries`
