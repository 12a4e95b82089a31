import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { formatRfc3339 } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { canonicalJson } from '#base/hash.ts'
import {
  databaseSource,
  exportNames,
  folderSource,
  formatReceipt,
  parseCheckpoints,
  readCheckpointCopies,
  readHeadMac,
  verifyLedger,
  verifyReceipt,
} from '#ledger'
import type { Entry, Verification } from '#ledger'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import type { Context } from './context.ts'
import { exitCode, usageError } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { sanitizeForTerminal } from './output.ts'
import type { Output } from './output.ts'
import { loadSettings } from './settings.ts'
import type { Settings } from './settings.ts'

/** Writes the entries of one call to a file that verifies offline with the public key (L16). */
export async function receipt(context: Context, call: string, { out: file }: { out?: string }) {
  const target = resolve(file ?? `receipt-${call.replaceAll(/[^\w-]/g, '_')}.json`)
  if (existsSync(target))
    throw usageError(`File exists: ${target}.`, 'Name another file with --out.')
  const content = await createClient(context).get('/api/ledger/receipts/{call}', { call })
  writeFileSync(target, formatReceipt(content), { flag: 'wx', mode: 0o600 })
  const { vkey, entries } = content
  context.out.data({ file: target, call, entries: entries.length, vkey }, () => [
    `Wrote ${countEntries(entries)} of call ${sanitizeForTerminal(call)} to ${target}.`,
    `Verify the file anywhere with \`cowork audit verify ${target} --key ${vkey}\`.`,
  ])
}

function verifyReceiptFile({ out }: Context, file: string, trusted: string | undefined): ExitCode {
  const { call, vkey, size, entries } = verifyReceipt(readFileSync(file), trusted)
  out.data({ ok: true, call, vkey, size, entries }, () => [
    `${out.style('green', 'OK')}: call ${sanitizeForTerminal(call)}, ${countEntries(entries)} of a ledger of ${size}`,
    ...entries.map(
      (entry) => `  ${formatRfc3339(entry.at)}  ${sanitizeForTerminal(formatEntry(entry))}`,
    ),
    `Signed by ${sanitizeForTerminal(vkey)}`,
  ])
  if (trusted === undefined)
    out.note(
      'The public key comes from the receipt itself, so this proves only that the receipt is consistent. Pass the ledger key with --key.',
    )
  return exitCode.ok
}

const verbs: Record<string, string> = {
  'call.started': 'started',
  'call.done': 'completed',
  'call.failed': 'failed at',
  'call.refused': 'was refused',
  'proposal.created': 'proposed',
  'approval.requested': 'requested approval of',
  'approval.voted': 'voted on',
  'approval.held': 'decided (can be undone)',
  'approval.undone': 'undid the decision on',
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

function formatEntry({ type, actor, domain, subject, outcome, data }: Entry): string {
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

/** Returns facts about the ledger from outside its store: an attacker who can rewrite the store can replace its key. */
export function externalLedgerFiles({ paths }: Context, { ledger }: Config) {
  const { ledgerPublicKey: file } = paths
  const published = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  const mac = readHeadMac(ledger.key_path)
  if (mac && published !== undefined && published !== mac.vkey)
    throw new CoworkError(
      'ledger_key_differs',
      `${file} is not the public key of ${ledger.key_path}: one of them was replaced.`,
      { hint: 'Compare both keys with a backup or with a trusted copy of the public key.' },
    )
  return {
    outside: readCheckpointCopies(ledger.checkpoint_copies),
    vkey: published ?? mac?.vkey,
    mac,
  }
}

export type VerifyOptions = {
  readonly deep?: boolean
  readonly key?: string
  readonly checkpoint?: readonly string[]
}

/** Verifies the store, an exported folder (L6) or a receipt (L16), without the daemon. */
export async function verify(
  context: Context,
  path: string | undefined,
  { deep = false, key, checkpoint = [] }: VerifyOptions,
): Promise<ExitCode> {
  const { out } = context
  const trusted = key === undefined ? undefined : readKey(key)
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile())
    return verifyReceiptFile(context, path, trusted)
  const known = checkpoint.map(readCheckpoint)
  const onProgress = (entries: number) => out.progress(`${entries} entries checked…`)
  const check = async () => {
    await using ledger = path === undefined ? await openStoredLedger(context) : openExport(path)
    const vkey = trusted ?? ledger.vkey
    const { mac, replays, source } = ledger
    const checkpoints = async () => [...(await source.checkpoints()), ...known]
    const options = { mac, replays, deep, onProgress }
    return { vkey, result: await verifyLedger({ ...source, checkpoints }, vkey, options) }
  }
  const { vkey, result } = await check().catch(rethrowUnreadable)
  const { firstBad, ...rest } = result
  out.data({ ...rest, ...(firstBad && { first_bad: firstBad }), vkey }, () =>
    formatReport(result, vkey, out.style),
  )
  if (path !== undefined && trusted === undefined)
    out.note(
      'The public key comes from this folder, so this proves only that the folder is consistent. Pass the ledger key with --key.',
    )
  return result.ok ? exitCode.ok : exitCode.failed
}

const openExport = (folder: string) => ({
  ...folderSource(folder),
  mac: undefined,
  // An export contains no tables.
  replays: [],
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

export async function openStoredLedger(context: Context, settings?: Pick<Settings, 'config'>) {
  const { config } = settings ?? (await loadSettings(context))
  // Before the store is read: checkpoint copies read later may be ahead of the store snapshot.
  const { outside, vkey: known, mac } = externalLedgerFiles(context, config)
  const { url, path } = config.storage
  if (!url && !existsSync(path))
    throw new CoworkError('not_found', `Ledger not found: ${path}.`, {
      hint: 'Name another state directory with --state, or an exported folder.',
    })
  const db = url
    ? await (await import('#base/db/postgres.ts')).readPostgres(url)
    : (await import('#base/db/sqlite.ts')).readSqlite(path)
  const { source, vkey: inStore } = await databaseSource(db, outside)
  const vkey = known ?? inStore
  if (vkey === undefined)
    throw new CoworkError('not_found', 'Ledger key not found: no daemon has opened this ledger.', {
      hint: 'Run `cowork up` first.',
    })
  const { createReplays } = await import('../app.ts')
  const replays = createReplays(db)
  return { db, source, vkey, mac, replays, [Symbol.asyncDispose]: () => db.close() }
}

/** Reports a damaged or foreign store file as `ledger_unreadable`, not as an internal error. */
function rethrowUnreadable(cause: unknown): never {
  const fromTheStore = cause instanceof Error && 'code' in cause && !(cause instanceof CoworkError)
  if (!fromTheStore) throw cause
  throw new CoworkError('ledger_unreadable', `Cannot read the ledger: ${errorMessage(cause)}.`, {
    hint: 'Check that the store is reachable; compare a damaged one with a backup or an export.',
    cause,
  })
}

/** Reads a key from the argument or from a file such as `key.pub`. */
const readKey = (key: string) => (existsSync(key) ? readFileSync(key, 'utf8').trim() : key)

/**
 * Reads a checkpoint note: the text, a file, or a line of checkpoints.jsonl. Copying may have removed the last line
 * break.
 */
function readCheckpoint(value: string): { size: number; note: string } {
  const text = existsSync(value) ? readFileSync(value, 'utf8') : value
  const [line] = text.trimStart().startsWith('{') ? parseCheckpoints(text.trim()) : []
  if (line) return line
  const note = `${text.replaceAll('\r\n', '\n').trim()}\n`
  const size = Number(note.split('\n')[1])
  if (Number.isSafeInteger(size) && size > 0) return { size, note }
  throw usageError(
    'Invalid checkpoint: no size.',
    'Pass the full note: three lines, an empty line and the signature.',
  )
}

function formatReport(result: Verification, vkey: string, style: Output['style']): string[] {
  const { entries, checkpoints, signed, seconds, firstBad, problems, findings } = result
  const rest = problems
    .slice(1)
    .map(({ seq, why }) => `  also entry ${seq}: ${sanitizeForTerminal(why)}`)
  const violations = findings.map(({ seq, why }) => `  entry ${seq}: ${sanitizeForTerminal(why)}`)
  const proof = proofLines(result, vkey)
  if (firstBad)
    return [
      `${style('red', 'BROKEN')} at entry ${firstBad.seq}: ${sanitizeForTerminal(firstBad.why)}`,
      ...rest,
      ...violations,
      ...proof,
    ]
  const count = `${entries} entries, ${checkpoints} checkpoints, signed up to ${signed}, ${seconds.toFixed(1)} s`
  if (violations.length > 0)
    return [
      `${style('yellow', 'Unmodified')} (${count}), but it records actions that were not allowed:`,
      ...violations,
      ...proof,
    ]
  return [`${style('green', 'OK')}: ${count}`, ...proof]
}

/** States which entries are signed and by which key, and never more than that (RS1). */
function proofLines({ entries, signed, unsigned, accepted }: Verification, vkey: string): string[] {
  const signer = signed === entries ? 'Signed by' : `Entries 1–${signed} are signed by`
  return [
    ...(unsigned?.intact
      ? [`Signed up to entry ${signed}; unsigned but intact: ${formatEntryRange(unsigned)}`]
      : []),
    ...accepted.map(
      ({ seq, reason, ...each }) =>
        `Accepted by the owner in entry ${seq}, without proof: ${formatEntryRange(each)}. Reason: ${sanitizeForTerminal(reason)}`,
    ),
    ...(signed > 0 ? [`${signer} ${sanitizeForTerminal(vkey)}`] : ['No entry is signed']),
  ]
}

export const formatEntryRange = ({ from, to }: { from: number; to: number }) =>
  from === to ? `entry ${from}` : `entries ${from}–${to}`

const pageSize = 1000

/** Writes the ledger to files that `cowork audit verify <folder>` checks offline (L6). */
export async function exportLedger(context: Context, folder: string) {
  const client = createClient(context)
  let signed = await signAndListCheckpoints(client)
  createEmptyFolder(folder)
  const write = (name: keyof typeof exportNames, values: readonly object[]) =>
    appendFileSync(join(folder, exportNames[name]), jsonLines(values), { mode: 0o600 })
  writeFileSync(join(folder, exportNames.key), `${signed.vkey}\n`)
  write('entries', [])
  write('payloads', [])
  let after = 0
  for (;;) {
    const last = signed.checkpoints.at(-1)?.size ?? 0
    while (after < last) {
      const limit = Math.min(pageSize, last - after)
      const page = await client.get('/api/ledger', { after, limit, payloads: true })
      write('entries', page.entries)
      write('payloads', page.payloads ?? [])
      // Skip a gap in a broken ledger; `verify` reports it.
      const { seq } = page.entries.at(-1) ?? { seq: last }
      after = seq
      context.out.progress(`${after} of ${last} entries written…`)
    }
    // A payload erased during the export is valid only with the entry that records it (L8).
    const erased = await client.get('/api/ledger', { after, type: 'payload.', limit: 1 })
    if (erased.entries.length === 0) break
    signed = await signAndListCheckpoints(client)
  }
  const { vkey, checkpoints } = signed
  write('checkpoints', checkpoints)
  context.out.data({ folder, entries: after, checkpoints: checkpoints.length, vkey }, () => [
    `Exported ${after} entries and ${checkpoints.length} checkpoints to ${folder}.`,
    `Verify them anywhere with \`cowork audit verify ${folder}\`.`,
  ])
}

/** Requests the proof of the newest entry first, so that the daemon signs all entries. */
async function signAndListCheckpoints(client: Client) {
  const { size } = await client.get('/api/ledger', { limit: 0 })
  if (size > 0) await client.get('/api/ledger/{seq}/proof', { seq: size })
  return client.get('/api/ledger/checkpoints')
}

/** The canonical form of an entry is the hashed form. */
const jsonLines = (values: readonly object[]) =>
  values.map((value) => `${canonicalJson(value)}\n`).join('')

function createEmptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0)
    throw usageError(`Folder not empty: ${folder}.`, 'Name a new folder.')
}
