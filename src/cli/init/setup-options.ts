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

/** What a person wants of a new place (C9): said by flags, or asked for on a terminal. */
export type SetupOptions = {
  readonly workspace?: string
  readonly folders: readonly Folder[]
  readonly channel?: Channel
  readonly practice: boolean
}

type Refused = (path: string) => string | undefined

/** Without a terminal, or with `--yes`, what no flag says stays at its default. */
export async function readSetupOptions(
  flags: SetupFlags,
  present: Config,
  isFirst: boolean,
  refused: Refused,
): Promise<SetupOptions> {
  const asks = isFirst && isInteractive(flags) && !flags.yes
  const said = flagged(flags)
  const standard = present.workspace.path
  const workspace = said.workspace ?? (asks ? await askWorkspace(standard, refused) : undefined)
  const folders = said.folders ?? (asks ? await askFolders() : [])
  const isTold = flags.notify !== undefined || present.notify.channels.length > 0
  const channel = asks && !isTold ? await askChannel() : said.channel
  const practice = flags.practice ?? (asks && (await askPractice()))
  return {
    ...(workspace !== undefined && { workspace }),
    folders,
    ...(channel && { channel }),
    practice,
  }
}

/** What is wrong with a flag is said before anything is asked. */
const flagged = ({ workspace, grant, notify }: SetupFlags) => ({
  workspace: workspace === undefined ? undefined : resolveFromCwd(workspace),
  folders: grant?.map(parseFolder).map(checkThere),
  channel: notify === undefined ? undefined : parseChannel(notify),
})

async function askWorkspace(standard: string, refused: Refused): Promise<string | undefined> {
  const answer = await selectOne('Where should AI save files it creates?', [
    { value: 'default', label: 'Use Default', hint: shortened(standard) },
    { value: 'other', label: 'Choose Different Location…' },
  ])
  if (answer === 'default') return undefined
  const question = 'Which folder? In one that holds something agents get a new one, AI-Workspace.'
  return resolveFromCwd(await askPath(question, refused))
}

/** Nothing is filled in: an Enter too many must not open the whole home. */
const askPath = (question: string, wrong: (path: string) => string | undefined) =>
  promptText(question, '~/AI', (text) =>
    text === '' ? 'Write a path, such as ~/AI.' : wrong(resolveFromCwd(text)),
  )

const missing = (path: string) => (existsSync(path) ? undefined : 'There is no such folder.')

/** Folders that people often want to show; none is offered that is not there. */
const usual = ['Documents', 'Downloads', 'Desktop', 'Projects', 'Pictures']

async function askFolders(): Promise<Folder[]> {
  const { home } = currentFolders()
  const offered = usual.map((name) => join(home, name)).filter((path) => existsSync(path))
  const chosen: Folder[] = []
  for (;;) {
    const open = offered.filter((path) => !chosen.some((one) => one.path === path))
    const answer = await selectOne(
      'Grant AI access to these folders now? (You can always grant more access later)',
      [
        // To go on is under the hand: nothing is opened by an Enter too many.
        chosen.length === 0
          ? { value: 'on', label: 'Skip for Now' }
          : { value: 'on', label: 'Continue', hint: chosen.map(folderText).join(', ') },
        ...open.map((path) => ({ value: path, label: shortened(path) })),
        { value: 'more', label: 'Add another folder…' },
      ],
    )
    if (answer === 'on') return chosen
    const path =
      answer === 'more' ? resolveFromCwd(await askPath('Which folder?', missing)) : answer
    const permission = await selectOne(`What may AI do in ${shortened(path)}?`, [
      { value: 'read', label: 'Read' },
      { value: 'read-write', label: 'Read-Write' },
    ])
    chosen.push({ path, permission })
  }
}

const folderText = ({ path, permission }: Folder) => `${shortened(path)} (${permission})`

async function askChannel(): Promise<Channel | undefined> {
  const answer = await selectOne('How shall you be told when AI asks for something?', [
    { value: 'none', label: 'In the console and the terminal only' },
    { value: 'desktop', label: 'On this desktop, while the console is open' },
    { value: 'ntfy', label: 'On a phone, by ntfy', hint: 'a topic is made up for you' },
  ])
  return parseChannel(answer)
}

/** `none`, `desktop`, `ntfy` or `ntfy:<topic>`. Who knows a topic can read along, so ours cannot be guessed. */
export function parseChannel(text: string): Channel | undefined {
  if (text === 'none') return undefined
  if (text === 'desktop') return { id: 'desktop', type: 'desktop' }
  const [, topic] = /^ntfy(?::([\w-]{1,64}))?$/.exec(text) ?? [undefined, '']
  if (topic === '')
    throw usageError(`--notify cannot be ${JSON.stringify(text)}.`, 'It is none, desktop or ntfy.')
  return { id: 'phone', type: 'ntfy', topic: topic ?? `cowork-${randomBytes(9).toString('hex')}` }
}

/** `<folder>` to be read, or `<folder>:rw`. */
export function parseFolder(text: string): Folder {
  const [, path = text, end] = /^(.*):(r|rw|read|read-write)$/s.exec(text) ?? []
  const permission = end === 'rw' || end === 'read-write' ? 'read-write' : 'read'
  if (path === '') throw usageError('--grant names a folder.', 'Such as --grant ~/Documents:rw.')
  return { path: resolveFromCwd(path), permission }
}

function checkThere(folder: Folder): Folder {
  if (existsSync(folder.path)) return folder
  throw new CoworkError('not_found', `There is nothing at ${folder.path}.`, {
    hint: '--grant names a folder that is there.',
  })
}

async function askPractice(): Promise<boolean> {
  const answer = await selectOne('Play a practice round, with demo agents that ask for things?', [
    { value: 'no', label: 'Not now', hint: '`cowork demo` does it later' },
    { value: 'yes', label: 'Yes' },
  ])
  return answer === 'yes'
}

function shortened(path: string): string {
  const { home } = currentFolders()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** The configuration with the workspace and the channel that were chosen; the rest is said to the daemon. */
export function applySetupOptions(
  merged: MergeResult,
  { channel }: SetupOptions,
  workspace: string | undefined,
): MergeResult {
  // `{}` is how an empty file is written.
  let text = merged.text.trim() === '{}' ? '' : merged.text
  if (workspace !== undefined) text = setConfigValue(text, ['workspace', 'path'], workspace)
  if (channel) text = setConfigValue(text, ['notify', 'channels'], [channel])
  return { ...merged, text }
}

/** Each by itself: one that is refused leaves the others. */
export async function grantFolders(
  context: Context,
  folders: readonly Folder[],
): Promise<ExitCode> {
  let worst: ExitCode = exitCode.ok
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
      worst = Math.max(worst, toExitCode(error)) as ExitCode
    }
  return worst
}
