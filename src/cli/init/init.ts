import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { systemClock } from '#base/clock.ts'
import { parseConfigText } from '#base/config/edit.ts'
import { currentFolders, loadConfig } from '#base/config/index.ts'
import { errorMessage } from '#base/errors.ts'
import { ensureStateDir } from '#base/state.ts'
import { findClient, clients } from '../clients/client-registry.ts'
import { readClientFile, writeClientFile } from '../clients/client-file.ts'
import type { Hunk } from '../clients/edits.ts'
import { connect, clientConfigPath } from '../connect.ts'
import { readConnections } from '../connections.ts'
import type { Context } from '../context.ts'
import { findRunningDaemon } from '../daemon.ts'
import type { ExitCode } from '../exit.ts'
import { confirmBroadGrant } from '../grants.ts'
import { sanitize } from '../output.ts'
import { requirePersonAtTerminal } from '../person.ts'
import { isInteractive, selectMany, confirm, diffLines, printNote } from '../terminal.ts'
import { findImportableFiles, mergeImports, redactSecrets } from './imports.ts'
import type { MergeResult } from './imports.ts'
import { grantFolders, readSetupOptions, applySetupOptions } from './setup-options.ts'
import type { SetupOptions, SetupFlags } from './setup-options.ts'
import { renderConfigTemplate } from './config-template.ts'

export type InitOptions = SetupFlags & {
  readonly import?: readonly string[]
  readonly connect?: readonly string[]
}

/** The state folder, a commented configuration with what other files already say, and the first steps (C9). */
export async function init(context: Context, options: InitOptions): Promise<ExitCode> {
  const { paths, out } = context
  const file = resolve(context.configFile ?? paths.config)
  const imports = [
    ...new Set([
      ...(options.import ?? []).map((one) => resolve(one)),
      ...findImportableFiles(currentFolders()),
    ]),
  ].filter((one) => one !== file)
  const before = readClientFile(file)
  if (before.exists) loadConfig({ file, env: {} })
  const merged = mergedConfig(context, before.text, imports)
  const { config: present } = parseConfigText(merged.text, file, context.env)
  const { checkWorkspace } = await import('../../app.ts')
  const checked = (folder: string) =>
    checkWorkspace(folder, { config: present, paths, ...currentFolders() })
  for (const client of options.connect ?? []) findClient(client)
  const wishes = await readSetupOptions(options, present, !before.exists, (folder) =>
    refusal(() => checked(folder)),
  )
  // What only a person may ask for is refused before anything is written (GR8, I10).
  if (wishes.folders.length > 0) requirePersonAtTerminal(context, 'Granting access', present)
  for (const { path } of wishes.folders) await confirmBroadGrant(path, options)
  const place = wishes.workspace === undefined ? undefined : checked(wishes.workspace)
  const wished = applySetupOptions(merged, wishes, place?.path)
  const text = before.exists ? wished.text : freshConfig(wished)
  const isChanged = !before.exists || !isDeepStrictEqual(settingsIn(text), settingsIn(before.text))
  // Nothing is written that the daemon would refuse.
  const { warnings } = parseConfigText(text, file, {})
  if (isChanged) {
    printNote(described(file, before.text, before.exists, wished), options)
    if (place?.around !== undefined)
      printNote(
        [`${sanitize(place.around)} holds something already: agents get a folder in it.`],
        options,
      )
    const what = before.exists ? `Add this to ${file}?` : `Write ${file}?`
    await confirm(what, options)
  }
  ensureStateDir(paths)
  const backup = isChanged ? writeClientFile(before, text, systemClock()) : undefined
  out.data(
    {
      state: paths.dir,
      config: file,
      changed: isChanged,
      ...(backup && { backup }),
      taken: merged.taken,
      kept: merged.kept,
      adapted: merged.adapted,
      warnings,
    },
    () => [
      isChanged ? `Wrote ${file}.` : `${file} says all of this already.`,
      ...(backup ? [`The file as it was: ${backup}`] : []),
    ],
  )
  for (const warning of warnings) out.note(warning)
  if (!isChanged)
    out.note('It asks only for a new cowork.yaml; --grant, --notify and --connect add to this.')
  if (isChanged && before.exists && findRunningDaemon(paths))
    out.note('A daemon runs: `cowork restart` makes it read this.')
  return carryOut(context, options, wishes)
}

/** Nothing but comments says as much as an empty object. */
const settingsIn = (text: string): unknown => parse(text) ?? {}

function refusal(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

/** Each file is checked by itself first, so that a fault is named where it stands. */
function mergedConfig({ env }: Context, existing: string, files: readonly string[]): MergeResult {
  const imports = files.map((file) => {
    loadConfig({ file, env: { COWORK_STATE_DIR: env['COWORK_STATE_DIR'] } })
    return { file, text: readFileSync(file, 'utf8') }
  })
  return mergeImports(existing, imports)
}

const schemaFile = fileURLToPath(new URL('../../../docs/config.schema.json', import.meta.url))

const freshConfig = ({ text }: MergeResult): string =>
  [
    `# yaml-language-server: $schema=${schemaFile}`,
    '# The configuration of cowork. What is commented out is the default; secrets may be references',
    '# such as env:NAME, file:path, op://vault/item/field, keychain:name or cmd:…',
    '',
    ...(text === '' ? [] : [text]),
    renderConfigTemplate(),
    '',
  ].join('\n')

function described(file: string, before: string, exists: boolean, merged: MergeResult): string[] {
  const { taken, kept, adapted } = merged
  const text = redactSecrets(merged.text)
  const hunks = exists ? [lineHunk(redactSecrets(before), text)] : [freshHunk(text)]
  return [
    ...diffLines(file, hunks),
    ...taken.map(({ setting, file: from }) => `${setting} comes from ${from}`),
    ...adapted.map(
      ({ setting, file: source, from, to }) =>
        `${setting} of ${source} is imported as ${to}, not ${from}: beyond this machine the daemon needs server.tls or server.insecure_bind, and a registered agent`,
    ),
    ...kept.map(
      ({ setting, file: from }) => `${setting} of ${from} is left out: it is set already`,
    ),
  ]
}

const freshHunk = (text: string): Hunk => ({
  line: 1,
  removed: '',
  inserted: `${text}# every other setting with its default, commented out`,
})

function lineHunk(before: string, after: string): Hunk {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end))
    end++
  const cut = (lines: string[]) => lines.slice(start, lines.length - end).join('\n')
  return { line: start + 1, removed: cut(a), inserted: cut(b) }
}

/** What needs a daemon: grants, clients and the practice round. */
async function carryOut(
  context: Context,
  options: InitOptions,
  { folders, practice }: SetupOptions,
): Promise<ExitCode> {
  const wanted =
    options.connect ?? (isInteractive(options) && !options.yes ? await asked(context) : [])
  const isNeeded = wanted.length + folders.length > 0 || practice
  if (isNeeded && !findRunningDaemon(context.paths)) {
    const { start } = await import('../background.ts')
    await start(context, { timeout: 30 })
  }
  const worst = await grantFolders(context, folders)
  for (const client of wanted) await connect(context, client, options)
  if (practice) await (await import('../demo/demo.ts')).demo(context, {})
  if (wanted.length === 0) {
    const first = findRunningDaemon(context.paths) ? '' : '`cowork up -d` starts it, '
    context.out.note(`Next: ${first}\`cowork connect <client>\` lets a client in.`)
  }
  return worst
}

/** Those that seem to be installed are ticked; those that are connected are not asked for again. */
async function asked(context: Context): Promise<string[]> {
  const connected = readConnections(context.paths).map(({ client }) => client)
  const open = clients.filter(({ id }) => !connected.includes(id))
  const isFound = (file: string) =>
    existsSync(file) || (dirname(file) !== homedir() && existsSync(dirname(file)))
  const found = open.filter((client) => isFound(clientConfigPath(context, client)))
  if (found.length === 0) return []
  return selectMany(
    'Which clients shall be connected?',
    found.map(({ id, title }) => ({ value: id, label: title })),
  )
}
