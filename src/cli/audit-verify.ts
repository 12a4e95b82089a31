import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CoworkError, messageOf } from '#base/errors.ts'
import type { Verification } from '#ledger'
import { databaseSource, exportNames, folderSource, readCheckpoints, verifyLedger } from '#ledger'
import type { Context } from './context.ts'
import { exitCode } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { shown } from './output.ts'
import type { Output } from './output.ts'
import { loadSettings } from './settings.ts'
import type { Settings } from './settings.ts'

export type VerifyOptions = { readonly deep?: boolean; readonly key?: string }

/** Needs no daemon and trusts none: reads the store itself, or a folder that was exported (L6). */
export async function verify(
  context: Context,
  folder: string | undefined,
  { deep = false, key }: VerifyOptions,
): Promise<ExitCode> {
  const { out } = context
  const progress = out.progress()
  const onProgress = (entries: number) => progress.show(`${entries} entries checked…`)
  const check = async () => {
    await using ledger = folder === undefined ? await stored(context) : exported(folder)
    const vkey = key === undefined ? ledger.vkey : keyGiven(key)
    return { vkey, result: await verifyLedger(ledger.source, vkey, { deep, onProgress }) }
  }
  const { vkey, result } = await check().catch(unreadable).finally(progress.end)
  const { firstBad, ...rest } = result
  out.data({ ...rest, ...(firstBad && { first_bad: firstBad }), vkey }, () =>
    report(result, vkey, out.style),
  )
  return result.ok ? exitCode.ok : exitCode.failed
}

const exported = (folder: string) => ({
  ...folderSource(folder),
  [Symbol.asyncDispose]: () => Promise.resolve(),
})

/** The ledger of a state folder, read from its store. */
export async function stored(context: Context, settings?: Pick<Settings, 'config'>) {
  const { config } = settings ?? (await loadSettings(context))
  // Before the store: a copy of a checkpoint that is read later may be ahead of what we see of the store.
  const outside = readCheckpoints(join(config.ledger.checkpoint_copies, exportNames.checkpoints))
  const { url, path } = config.storage
  if (!url && !existsSync(path))
    throw new CoworkError('not_found', `There is no ledger at ${path}.`, {
      hint: 'Name another state folder with --state, or an exported folder.',
    })
  const db = url
    ? await (await import('#base/db/postgres.ts')).readPostgres(url)
    : (await import('#base/db/sqlite.ts')).readSqlite(path)
  const { source, vkey: inStore } = await databaseSource(db, outside)
  // Whoever can rewrite the store can put a key of their own there; the file beside it is one hurdle more.
  const { ledgerPublicKey } = context.paths
  const vkey = existsSync(ledgerPublicKey) ? readFileSync(ledgerPublicKey, 'utf8').trim() : inStore
  if (vkey === undefined)
    throw new CoworkError(
      'not_found',
      'The ledger has no key yet: it was never opened by a daemon.',
      {
        hint: 'Start one with `cowork up`.',
      },
    )
  return { db, source, vkey, [Symbol.asyncDispose]: () => db.close() }
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

function report(result: Verification, vkey: string, style: Output['style']): string[] {
  const { entries, checkpoints, signed, seconds, firstBad, problems, findings } = result
  const signer = `Signed by ${shown(vkey)}`
  const rest = problems.slice(1).map(({ seq, why }) => `  also entry ${seq}: ${shown(why)}`)
  const told = findings.map(({ seq, why }) => `  entry ${seq}: ${shown(why)}`)
  if (firstBad)
    return [
      `${style('red', 'BROKEN')} at entry ${firstBad.seq}: ${shown(firstBad.why)}`,
      ...rest,
      ...told,
      signer,
    ]
  const count = `${entries} entries, ${checkpoints} checkpoints, signed up to ${signed}, ${seconds.toFixed(1)} s`
  if (told.length > 0)
    return [
      `${style('yellow', 'Unchanged')} (${count}), but what it tells was not allowed:`,
      ...told,
      signer,
    ]
  return [`${style('green', 'OK')}: ${count}`, signer]
}
