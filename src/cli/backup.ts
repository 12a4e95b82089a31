import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { rfc3339, systemClock } from '#base/clock.ts'
import { addFiles, collectFiles } from './archive.ts'
import type { Context } from './context.ts'
import { exitCode, usage } from './exit.ts'
import type { ExitCode } from './exit.ts'
import { loadSettings } from './settings.ts'
import { outsideOf } from './outside.ts'
import { configPath, stamp } from './storage.ts'
import { copyStore, placeOf, readStore } from './stores.ts'
import { version } from './version.ts'

/** Everything that a new machine needs, in one file, while the daemon goes on (K8). */
export async function backup(context: Context, given: string | undefined): Promise<ExitCode> {
  const { out, paths } = context
  const file = resolve(given ?? `cowork-${stamp()}.backup`)
  if (existsSync(file)) throw usage(`${file} exists already.`, 'Name a file that does not exist.')
  const { config } = await loadSettings(context)
  // Before the store: a checkpoint that is copied later may be ahead of what we see of the store.
  const known = outsideOf(context, config)
  const files = collectFiles({ paths, config, configFile: configPath(context) })
  await using source = await readStore(placeOf(config.storage))
  const progress = out.progress()
  try {
    const { tables, verification, publish } = await copyStore(
      source,
      { path: file },
      {
        ...known,
        also: (filling) => addFiles(filling, files, version(), rfc3339(systemClock())),
        onCopied: (table, rows, of) => progress.show(`${table}: ${rows} of ${of} rows copied…`),
        onChecked: (entries) => progress.show(`${entries} entries checked…`),
      },
    )
    // A broken ledger is kept as well: it is evidence.
    await publish()
    progress.end()
    const { entries, root, firstBad } = verification
    const rows = tables.reduce((sum, each) => sum + each.rows, 0)
    const about = { file, rows, entries, root, files: [...files.keys()] }
    out.data({ ...about, ...(firstBad && { first_bad: firstBad }) }, () => [
      firstBad
        ? `${out.style('red', 'BROKEN')}: the ledger does not verify at entry ${firstBad.seq}: ${firstBad.why}. It was kept as it is in ${file}.`
        : `${file} has ${rows} rows and ${files.size} files; its ledger verifies: ${entries} entries.`,
    ])
    out.note(
      files.has('ledger.key')
        ? 'It holds the signing key and the tokens: keep it where nobody else reads it.'
        : `There was no ${config.ledger.key_path}: without it the daemon does not start on this store.`,
    )
    return firstBad ? exitCode.failed : exitCode.ok
  } finally {
    progress.end()
  }
}
