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

/** Creates the state directory and a commented configuration with imported settings, and runs the first steps (C9). */
export async function init(context: Context, options: InitOptions): Promise<ExitCode> {
  const { paths, out } = context
  const file = resolve(context.configFile ?? paths.config)
  const imports = [
    ...new Set([
      ...(options.import ?? []).map((path) => resolve(path)),
      ...findImportableFiles(currentFolders()),
    ]),
  ].filter((path) => path !== file)
  const before = readClientFile(file)
  if (before.exists) loadConfig({ file, env: {} })
  const merged = mergeConfig(context, before.text, imports)
  const { config: present } = parseConfigText(merged.text, file, context.env)
  const { checkWorkspace } = await import('../../app.ts')
  const checkFolder = (folder: string) =>
    checkWorkspace(folder, { config: present, paths, ...currentFolders() })
  for (const client of options.connect ?? []) findClient(client)
  const setup = await readSetupOptions(options, present, !before.exists, (folder) =>
    getError(() => checkFolder(folder)),
  )
  // Refuse before writing anything: only a person may grant access (GR8, I10).
  if (setup.folders.length > 0) requirePersonAtTerminal(context, 'Granting access', present)
  for (const { path } of setup.folders) await confirmBroadGrant(path, options)
  const place = setup.workspace === undefined ? undefined : checkFolder(setup.workspace)
  const configured = applySetupOptions(merged, setup, place?.path)
  const text = before.exists ? configured.text : freshConfig(configured)
  const isChanged =
    !before.exists || !isDeepStrictEqual(parseSettings(text), parseSettings(before.text))
  // Validate before writing: the daemon must accept the file.
  const { warnings } = parseConfigText(text, file, {})
  if (isChanged) {
    printNote(formatChanges(file, before.text, before.exists, configured), options)
    if (place?.namedFolder !== undefined)
      printNote([`${sanitize(place.namedFolder)} is not empty: agents get a subfolder.`], options)
    const what = before.exists ? `Add these settings to ${file}?` : `Write ${file}?`
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
      isChanged ? `Wrote ${file}.` : `No changes: ${file}.`,
      ...(backup ? [`Backup: ${backup}`] : []),
    ],
  )
  for (const warning of warnings) out.note(warning)
  if (!isChanged)
    out.note(
      'Setup questions are only for a new cowork.yaml. Use --grant, --notify and --connect to add settings.',
    )
  if (isChanged && before.exists && findRunningDaemon(paths))
    out.note('Run `cowork restart` to apply the configuration.')
  return applySetup(context, options, setup)
}

/** Parses the settings; a file with only comments equals an empty object. */
const parseSettings = (text: string): unknown => parse(text) ?? {}

function getError(action: () => unknown): string | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

/** Validates each file separately first, so that an error names its file. */
function mergeConfig({ env }: Context, existing: string, files: readonly string[]): MergeResult {
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
    '# The configuration of cowork. Commented lines show the defaults. Secrets can be references',
    '# such as env:NAME, file:path, op://vault/item/field, keychain:name or cmd:…',
    '',
    ...(text === '' ? [] : [text]),
    renderConfigTemplate(),
    '',
  ].join('\n')

function formatChanges(
  file: string,
  before: string,
  exists: boolean,
  merged: MergeResult,
): string[] {
  const { taken, kept, adapted } = merged
  const text = redactSecrets(merged.text)
  const hunks = exists ? [lineHunk(redactSecrets(before), text)] : [freshHunk(text)]
  return [
    ...diffLines(file, hunks),
    ...taken.map(({ setting, file: from }) => `${setting} comes from ${from}`),
    ...adapted.map(
      ({ setting, file: source, from, to }) =>
        `${setting} of ${source} is imported as ${to} instead of ${from}: remote connections need server.tls or server.insecure_bind, and a registered agent`,
    ),
    ...kept.map(({ setting, file: from }) => `${setting} of ${from} is skipped: already set`),
  ]
}

const freshHunk = (text: string): Hunk => ({
  line: 1,
  removed: '',
  inserted: `${text}# all other settings with their defaults, commented out`,
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

/** Runs the steps that need a daemon: grants, clients and the demo. */
async function applySetup(
  context: Context,
  options: InitOptions,
  { folders, practice }: SetupOptions,
): Promise<ExitCode> {
  const clientIds =
    options.connect ?? (isInteractive(options) && !options.yes ? await askClients(context) : [])
  const isNeeded = clientIds.length + folders.length > 0 || practice
  if (isNeeded && !findRunningDaemon(context.paths)) {
    const { start } = await import('../background.ts')
    await start(context, { timeout: 30 })
  }
  const worst = await grantFolders(context, folders)
  for (const client of clientIds) await connect(context, client, options)
  if (practice) await (await import('../demo/demo.ts')).demo(context, {})
  if (clientIds.length === 0) {
    const first = findRunningDaemon(context.paths) ? '' : 'run `cowork up -d`, then '
    context.out.note(`Next: ${first}\`cowork connect <client>\` to connect an MCP client.`)
  }
  return worst
}

/** Asks which installed clients to connect; connected ones are left out. */
async function askClients(context: Context): Promise<string[]> {
  const connected = readConnections(context.paths).map(({ client }) => client)
  const open = clients.filter(({ id }) => !connected.includes(id))
  const isFound = (file: string) =>
    existsSync(file) || (dirname(file) !== homedir() && existsSync(dirname(file)))
  const installed = open.filter((client) => isFound(clientConfigPath(context, client)))
  if (installed.length === 0) return []
  return selectMany(
    'Which clients do you want to connect?',
    installed.map(({ id, title }) => ({ value: id, label: title })),
  )
}
