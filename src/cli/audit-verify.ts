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

/** Writes what happened in one call into a file that verifies offline with the public key (L16). */
export async function receipt(context: Context, call: string, { out: file }: { out?: string }) {
  const target = resolve(file ?? `receipt-${call.replaceAll(/[^\w-]/g, '_')}.json`)
  if (existsSync(target))
    throw usageError(`${target} exists already.`, 'Name another file with --out.')
  const written = await createClient(context).get('/api/ledger/receipts/{call}', { call })
  writeFileSync(target, formatReceipt(written), { flag: 'wx', mode: 0o600 })
  const { vkey, entries } = written
  context.out.data({ file: target, call, entries: entries.length, vkey }, () => [
    `${target} has ${countEntries(entries)} of call ${sanitizeForTerminal(call)}.`,
    `Check it anywhere with \`cowork audit verify ${target} --key ${vkey}\`.`,
  ])
}

function verifyReceiptFile({ out }: Context, file: string, trusted: string | undefined): ExitCode {
  const { call, vkey, size, entries } = verifyReceipt(readFileSync(file), trusted)
  out.data({ ok: true, call, vkey, size, entries }, () => [
    `${out.style('green', 'OK')}: call ${sanitizeForTerminal(call)}, ${countEntries(entries)} of a ledger of ${size}`,
    ...entries.map(
      (entry) => `  ${formatRfc3339(entry.at)}  ${sanitizeForTerminal(sentenceOf(entry))}`,
    ),
    `Signed by ${sanitizeForTerminal(vkey)}`,
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

/** Facts about the ledger from outside its store: somebody who can rewrite the store could put another key there. */
export function externalLedgerFiles({ paths }: Context, { ledger }: Config) {
  const { ledgerPublicKey: file } = paths
  const published = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  const mac = readHeadMac(ledger.key_path)
  if (mac && published !== undefined && published !== mac.vkey)
    throw new CoworkError(
      'ledger_key_differs',
      `${file} is not the public key of ${ledger.key_path}: one of them was replaced.`,
      { hint: 'Compare both with a backup or with a public key that you kept elsewhere.' },
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

/** Needs no daemon and trusts none: reads the store itself, an exported folder (L6) or a receipt (L16). */
export async function verify(
  context: Context,
  path: string | undefined,
  { deep = false, key, checkpoint = [] }: VerifyOptions,
): Promise<ExitCode> {
  const { out } = context
  const trusted = key === undefined ? undefined : keyGiven(key)
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile())
    return verifyReceiptFile(context, path, trusted)
  const known = checkpoint.map(checkpointGiven)
  const onProgress = (entries: number) => out.progress(`${entries} entries checked…`)
  const check = async () => {
    await using ledger = path === undefined ? await openStoredLedger(context) : exported(path)
    const vkey = trusted ?? ledger.vkey
    const { mac, replays, source } = ledger
    const checkpoints = async () => [...(await source.checkpoints()), ...known]
    const options = { mac, replays, deep, onProgress }
    return { vkey, result: await verifyLedger({ ...source, checkpoints }, vkey, options) }
  }
  const { vkey, result } = await check().catch(unreadable)
  const { firstBad, ...rest } = result
  out.data({ ...rest, ...(firstBad && { first_bad: firstBad }), vkey }, () =>
    report(result, vkey, out.style),
  )
  if (path !== undefined && trusted === undefined)
    out.note(
      'The public key came from this folder, so this proves only that the folder is consistent. Pass the key of the ledger with --key.',
    )
  return result.ok ? exitCode.ok : exitCode.failed
}

const exported = (folder: string) => ({
  ...folderSource(folder),
  mac: undefined,
  // An export holds no tables.
  replays: [],
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

export async function openStoredLedger(context: Context, settings?: Pick<Settings, 'config'>) {
  const { config } = settings ?? (await loadSettings(context))
  // Before the store: a copy of a checkpoint that is read later may be ahead of what we see of the store.
  const { outside, vkey: known, mac } = externalLedgerFiles(context, config)
  const { url, path } = config.storage
  if (!url && !existsSync(path))
    throw new CoworkError('not_found', `There is no ledger at ${path}.`, {
      hint: 'Name another state folder with --state, or an exported folder.',
    })
  const db = url
    ? await (await import('#base/db/postgres.ts')).readPostgres(url)
    : (await import('#base/db/sqlite.ts')).readSqlite(path)
  const { source, vkey: inStore } = await databaseSource(db, outside)
  const vkey = known ?? inStore
  if (vkey === undefined)
    throw new CoworkError(
      'not_found',
      'The ledger has no key yet: it was never opened by a daemon.',
      {
        hint: 'Start one with `cowork up`.',
      },
    )
  const { replaysOf } = await import('../app.ts')
  const replays = replaysOf(db)
  return { db, source, vkey, mac, replays, [Symbol.asyncDispose]: () => db.close() }
}

/** A store whose file is damaged, or that is none of ours, is not a fault of the program. */
function unreadable(cause: unknown): never {
  const fromTheStore = cause instanceof Error && 'code' in cause && !(cause instanceof CoworkError)
  if (!fromTheStore) throw cause
  throw new CoworkError('ledger_unreadable', `The ledger cannot be read: ${errorMessage(cause)}.`, {
    hint: 'Check that it can be reached; if it is damaged, compare it with a backup or an export.',
    cause,
  })
}

/** A key as `key.pub` holds it, or the file itself. */
const keyGiven = (key: string) => (existsSync(key) ? readFileSync(key, 'utf8').trim() : key)

/**
 * A checkpoint note as somebody kept it: the text, a file with it, or a line of checkpoints.jsonl. A message may
 * have lost the last line break.
 */
function checkpointGiven(given: string): { size: number; note: string } {
  const text = existsSync(given) ? readFileSync(given, 'utf8') : given
  const [line] = text.trimStart().startsWith('{') ? parseCheckpoints(text.trim()) : []
  if (line) return line
  const note = `${text.replaceAll('\r\n', '\n').trim()}\n`
  const size = Number(note.split('\n')[1])
  if (Number.isSafeInteger(size) && size > 0) return { size, note }
  throw usageError(
    'The checkpoint has no size.',
    'Pass the whole note: three lines, an empty line and the signature.',
  )
}

function report(result: Verification, vkey: string, style: Output['style']): string[] {
  const { entries, checkpoints, signed, seconds, firstBad, problems, findings } = result
  const rest = problems
    .slice(1)
    .map(({ seq, why }) => `  also entry ${seq}: ${sanitizeForTerminal(why)}`)
  const told = findings.map(({ seq, why }) => `  entry ${seq}: ${sanitizeForTerminal(why)}`)
  const proof = proofLines(result, vkey)
  if (firstBad)
    return [
      `${style('red', 'BROKEN')} at entry ${firstBad.seq}: ${sanitizeForTerminal(firstBad.why)}`,
      ...rest,
      ...told,
      ...proof,
    ]
  const count = `${entries} entries, ${checkpoints} checkpoints, signed up to ${signed}, ${seconds.toFixed(1)} s`
  if (told.length > 0)
    return [
      `${style('yellow', 'Unchanged')} (${count}), but what it tells was not allowed:`,
      ...told,
      ...proof,
    ]
  return [`${style('green', 'OK')}: ${count}`, ...proof]
}

/** States which entries are signed and by which key, and never more than that (RS1). */
function proofLines({ entries, signed, unsigned, accepted }: Verification, vkey: string): string[] {
  const signer = signed === entries ? 'Signed by' : `Entries 1–${signed} are signed by`
  return [
    ...(unsigned?.intact
      ? [`Signed up to entry ${signed}; not signed yet but intact: ${entriesIn(unsigned)}`]
      : []),
    ...accepted.map(
      ({ seq, reason, ...each }) =>
        `Accepted by the owner in entry ${seq}, without proof: ${entriesIn(each)}. Reason: ${sanitizeForTerminal(reason)}`,
    ),
    ...(signed > 0 ? [`${signer} ${sanitizeForTerminal(vkey)}`] : ['No entry is signed']),
  ]
}

export const entriesIn = ({ from, to }: { from: number; to: number }) =>
  from === to ? `entry ${from}` : `entries ${from}–${to}`

const pageSize = 1000

/** The ledger as files that `cowork audit verify <folder>` checks without us (L6). */
export async function exportLedger(context: Context, folder: string) {
  const client = createClient(context)
  let signed = await signedNow(client)
  makeEmpty(folder)
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
      // A gap in a broken ledger must not keep us here; verify will name it.
      const { seq } = page.entries.at(-1) ?? { seq: last }
      after = seq
      context.out.progress(`${after} of ${last} entries written…`)
    }
    // A payload that was erased while we wrote is right only with the entry that says so (L8).
    const erased = await client.get('/api/ledger', { after, type: 'payload.', limit: 1 })
    if (erased.entries.length === 0) break
    signed = await signedNow(client)
  }
  const { vkey, checkpoints } = signed
  write('checkpoints', checkpoints)
  context.out.data({ folder, entries: after, checkpoints: checkpoints.length, vkey }, () => [
    `${after} entries and ${checkpoints.length} checkpoints are in ${folder}.`,
    `Check them anywhere with \`cowork audit verify ${folder}\`.`,
  ])
}

/** Asking for the proof of the newest entry has it signed, so that what we write is signed to its end. */
async function signedNow(client: Client) {
  const { size } = await client.get('/api/ledger', { limit: 0 })
  if (size > 0) await client.get('/api/ledger/{seq}/proof', { seq: size })
  return client.get('/api/ledger/checkpoints')
}

/** An entry's canonical form is what was hashed. */
const jsonLines = (values: readonly object[]) =>
  values.map((value) => `${canonicalJson(value)}\n`).join('')

function makeEmpty(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (readdirSync(folder).length > 0)
    throw usageError(`${folder} is not empty.`, 'Name a folder that does not exist yet.')
}
