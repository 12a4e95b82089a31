import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setConfigValue } from '#base/config/edit.ts'
import { currentFolders } from '#base/config/index.ts'
import type { Config } from '#base/config/index.ts'
import { CoworkError } from '#base/errors.ts'
import { createClient } from '../client.ts'
import type { Context } from '../context.ts'
import { exitCode, toExitCode, usageError } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import { formatGrant, resolveFromCwd } from '../grants.ts'
import { isInteractive, selectOne, promptText } from '../terminal.ts'
import type { PromptOptions } from '../terminal.ts'
import type { MergeResult } from './imports.ts'

export type SetupFlags = PromptOptions & {
  readonly workspace?: string
  readonly grant?: readonly string[]
  readonly notify?: string
  readonly practice?: boolean
}

export type Folder = { readonly path: string; readonly permission: 'read' | 'read-write' }
export type Channel = { readonly id: string; readonly type: string; readonly topic?: string }

/** Choices for a new state directory (C9), from flags or prompts. */
export type SetupOptions = {
  readonly workspace?: string
  readonly folders: readonly Folder[]
  readonly channel?: Channel
  readonly practice: boolean
}

type CheckWorkspacePath = (path: string) => string | undefined

/** Reads the options from flags and, on a terminal without `--yes`, from prompts. */
export async function readSetupOptions(
  flags: SetupFlags,
  present: Config,
  isFirst: boolean,
  checkPath: CheckWorkspacePath,
): Promise<SetupOptions> {
  const shouldPrompt = isFirst && isInteractive(flags) && !flags.yes
  const given = parseFlags(flags)
  const defaultPath = present.workspace.path
  const workspace =
    given.workspace ?? (shouldPrompt ? await askWorkspace(defaultPath, checkPath) : undefined)
  const folders = given.folders ?? (shouldPrompt ? await askFolders() : [])
  const isConfigured = flags.notify !== undefined || present.notify.channels.length > 0
  const channel = shouldPrompt && !isConfigured ? await askChannel() : given.channel
  const practice = flags.practice ?? (shouldPrompt && (await askPractice()))
  return {
    ...(workspace !== undefined && { workspace }),
    folders,
    ...(channel && { channel }),
    practice,
  }
}

/** Validates the flags before the first prompt. */
const parseFlags = ({ workspace, grant, notify }: SetupFlags) => ({
  workspace: workspace === undefined ? undefined : resolveFromCwd(workspace),
  folders: grant?.map(parseFolder).map(assertExists),
  channel: notify === undefined ? undefined : parseChannel(notify),
})

async function askWorkspace(
  defaultPath: string,
  checkPath: CheckWorkspacePath,
): Promise<string | undefined> {
  const answer = await selectOne('Where should AI save files it creates?', [
    { value: 'default', label: 'Use Default', hint: abbreviateHome(defaultPath) },
    { value: 'other', label: 'Choose Different Location…' },
  ])
  if (answer === 'default') return undefined
  const question = 'Which folder? If it is not empty, cowork creates AI-Workspace in it.'
  return resolveFromCwd(await askPath(question, checkPath))
}

/** Has no default value: an extra Enter must not grant the home folder. */
const askPath = (question: string, validatePath: (path: string) => string | undefined) =>
  promptText(question, '~/AI', (text) =>
    text === '' ? 'Enter a path, such as ~/AI.' : validatePath(resolveFromCwd(text)),
  )

const checkExists = (path: string) => (existsSync(path) ? undefined : 'Folder not found.')

/** Folders to suggest, if they exist. */
const suggestedFolders = ['Documents', 'Downloads', 'Desktop', 'Projects', 'Pictures']

async function askFolders(): Promise<Folder[]> {
  const { home } = currentFolders()
  const offered = suggestedFolders
    .map((name) => join(home, name))
    .filter((path) => existsSync(path))
  const chosen: Folder[] = []
  for (;;) {
    const open = offered.filter((path) => !chosen.some((folder) => folder.path === path))
    const answer = await selectOne(
      'Grant AI access to these folders now? (You can always grant more access later)',
      [
        // Continue is the default: an extra Enter grants nothing.
        chosen.length === 0
          ? { value: 'on', label: 'Skip for Now' }
          : { value: 'on', label: 'Continue', hint: chosen.map(formatFolder).join(', ') },
        ...open.map((path) => ({ value: path, label: abbreviateHome(path) })),
        { value: 'more', label: 'Add another folder…' },
      ],
    )
    if (answer === 'on') return chosen
    const path =
      answer === 'more' ? resolveFromCwd(await askPath('Which folder?', checkExists)) : answer
    const permission = await selectOne(`What may AI do in ${abbreviateHome(path)}?`, [
      { value: 'read', label: 'Read' },
      { value: 'read-write', label: 'Read-Write' },
    ])
    chosen.push({ path, permission })
  }
}

const formatFolder = ({ path, permission }: Folder) => `${abbreviateHome(path)} (${permission})`

async function askChannel(): Promise<Channel | undefined> {
  const answer = await selectOne('How do you want to be notified?', [
    { value: 'none', label: 'Only in the console and the terminal' },
    { value: 'desktop', label: 'On this desktop, while the console is open' },
    { value: 'ntfy', label: 'On a phone through ntfy', hint: 'cowork generates a topic' },
  ])
  return parseChannel(answer)
}

/** Parses `none`, `desktop`, `ntfy` or `ntfy:<topic>`. Anyone who knows a topic can read it, so ours is random. */
export function parseChannel(text: string): Channel | undefined {
  if (text === 'none') return undefined
  if (text === 'desktop') return { id: 'desktop', type: 'desktop' }
  const [, topic] = /^ntfy(?::([\w-]{1,64}))?$/.exec(text) ?? [undefined, '']
  if (topic === '')
    throw usageError(`Invalid --notify: ${JSON.stringify(text)}.`, 'Use none, desktop or ntfy.')
  return { id: 'phone', type: 'ntfy', topic: topic ?? `cowork-${randomBytes(9).toString('hex')}` }
}

/** Parses `<folder>` (read) or `<folder>:rw`. */
export function parseFolder(text: string): Folder {
  const [, path = text, mode] = /^(.*):(r|rw|read|read-write)$/s.exec(text) ?? []
  const permission = mode === 'rw' || mode === 'read-write' ? 'read-write' : 'read'
  if (path === '')
    throw usageError('Invalid --grant: no folder.', 'Use for example --grant ~/Documents:rw.')
  return { path: resolveFromCwd(path), permission }
}

function assertExists(folder: Folder): Folder {
  if (existsSync(folder.path)) return folder
  throw new CoworkError('not_found', `Not found: ${folder.path}.`, {
    hint: 'Pass an existing folder with --grant.',
  })
}

async function askPractice(): Promise<boolean> {
  const answer = await selectOne('Run a practice round with demo agents?', [
    { value: 'no', label: 'Not now', hint: 'run `cowork demo` later' },
    { value: 'yes', label: 'Yes' },
  ])
  return answer === 'yes'
}

function abbreviateHome(path: string): string {
  const { home } = currentFolders()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** Writes workspace and channel to the configuration; the daemon gets the other options. */
export function applySetupOptions(
  merged: MergeResult,
  { channel }: SetupOptions,
  workspace: string | undefined,
): MergeResult {
  // An empty document is serialized as `{}`.
  let text = merged.text.trim() === '{}' ? '' : merged.text
  if (workspace !== undefined) text = setConfigValue(text, ['workspace', 'path'], workspace)
  if (channel) text = setConfigValue(text, ['notify', 'channels'], [channel])
  return { ...merged, text }
}

/** Adds each grant separately, so that a refused one does not affect the others. */
export async function grantFolders(
  context: Context,
  folders: readonly Folder[],
): Promise<ExitCode> {
  let code: ExitCode = exitCode.ok
  for (const { path, permission } of folders)
    try {
      const grant = await createClient(context).call('add_grant', {
        path,
        permission,
        granted_by: 'system_setup',
      })
      context.out.data({ granted: grant }, () => [formatGrant(grant)])
    } catch (error) {
      if (!(error instanceof CoworkError)) throw error
      context.out.problem(error)
      code = Math.max(code, toExitCode(error)) as ExitCode
    }
  return code
}
