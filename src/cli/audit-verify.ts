import { existsSync, readFileSync, statSync } from 'node:fs'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { Verification } from '#ledger'
import { databaseSource, folderSource, parseCheckpoints, verifyLedger } from '#ledger'
import type { Context } from './context.ts'
import { verifyReceiptFile } from './audit-receipt.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { outsideOf } from './outside.ts'
import { shown } from './output.ts'
import type { Output } from './output.ts'
import { loadSettings } from './settings.ts'
import type { Settings } from './settings.ts'

export type VerifyOptions = {
  readonly deep?: boolean
  readonly key?: string
  readonly checkpoint?: readonly string[]
}

/** Needs no daemon and trusts none: reads the store itself, an exported folder (L6) or a receipt (L16). */
export async function verify(
  context: Context,
  path: string | undefined,
  options: VerifyOptions,
): Promise<ExitCode> {
  const { key, checkpoint = [] } = options
  const trusted = key === undefined ? undefined : keyGiven(key)
  if (path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile())
    return verifyReceiptFile(context, path, trusted)
  const known = checkpoint.map(checkpointGiven)
  return verifySource(context, path, { ...options, trusted, known })
}

type SourceOptions = {
  readonly deep?: boolean
  readonly trusted: string | undefined
  readonly known: readonly { readonly size: number; readonly note: string }[]
}

async function verifySource(
  context: Context,
  folder: string | undefined,
  { deep = false, trusted, known }: SourceOptions,
): Promise<ExitCode> {
  const { out } = context
  const progress = out.progress()
  const onProgress = (entries: number) => progress.show(`${entries} entries checked…`)
  const check = async () => {
    await using ledger = folder === undefined ? await stored(context) : exported(folder)
    const vkey = trusted ?? ledger.vkey
    const { mac, replays, source } = ledger
    const checkpoints = async () => [...(await source.checkpoints()), ...known]
    const options = { mac, replays, deep, onProgress }
    return { vkey, result: await verifyLedger({ ...source, checkpoints }, vkey, options) }
  }
  const { vkey, result } = await check().catch(unreadable).finally(progress.end)
  const { firstBad, ...rest } = result
  out.data({ ...rest, ...(firstBad && { first_bad: firstBad }), vkey }, () =>
    report(result, vkey, out.style),
  )
  if (folder !== undefined && trusted === undefined)
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

/** The ledger of a state folder, read from its store. */
export async function stored(context: Context, settings?: Pick<Settings, 'config'>) {
  const { config } = settings ?? (await loadSettings(context))
  // Before the store: a copy of a checkpoint that is read later may be ahead of what we see of the store.
  const { outside, vkey: known, mac } = outsideOf(context, config)
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
  throw new CoworkError('ledger_unreadable', `The ledger cannot be read: ${messageOf(cause)}.`, {
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
  throw usage(
    'The checkpoint has no size.',
    'Pass the whole note: three lines, an empty line and the signature.',
  )
}

function report(result: Verification, vkey: string, style: Output['style']): string[] {
  const { entries, checkpoints, signed, seconds, firstBad, problems, findings } = result
  const rest = problems.slice(1).map(({ seq, why }) => `  also entry ${seq}: ${shown(why)}`)
  const told = findings.map(({ seq, why }) => `  entry ${seq}: ${shown(why)}`)
  const proof = proofLines(result, vkey)
  if (firstBad)
    return [
      `${style('red', 'BROKEN')} at entry ${firstBad.seq}: ${shown(firstBad.why)}`,
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
        `Accepted by the owner in entry ${seq}, without proof: ${entriesIn(each)}. Reason: ${shown(reason)}`,
    ),
    ...(signed > 0 ? [`${signer} ${shown(vkey)}`] : ['No entry is signed']),
  ]
}

export const entriesIn = ({ from, to }: { from: number; to: number }) =>
  from === to ? `entry ${from}` : `entries ${from}–${to}`
