import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '#base/config/env.ts'
import { screens } from '#base/screens.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { resolvePrefix } from './lookup.ts'

/** Makes a one-time link to the console and opens it; prints it where there is no browser to open (I6). */
export async function open(
  context: Context,
  given: string | undefined,
  { print = false }: { readonly print?: boolean },
): Promise<void> {
  const screen = given === undefined ? undefined : resolvePrefix(given, screens, 'screen')
  const made = await createClient(context).call('cowork_open_link')
  const link = withScreen(made.link, screen)
  const opened = !print && (await openExternally(link, context.env, process.platform))
  context.out.data({ link, expires_at: made.expires_at, opened }, () => [
    opened ? 'The console is open in your browser.' : link,
  ])
  if (!opened) context.out.note('It works once, within 5 minutes.')
}

export function withScreen(link: string, screen: string | undefined): string {
  const url = new URL(link)
  if (screen !== undefined) url.pathname = `/${screen}`
  return url.href
}

/** The program that shows an address, or nothing where nobody would see it. */
export function browserCommand(
  env: Environment,
  platform: NodeJS.Platform,
): readonly string[] | undefined {
  if (platform === 'darwin') return ['open']
  // Without a shell, which would read the & of an address as its own.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined
}

const settled = 3000

/** Shows an address or a folder in the program of this desktop for it; false where there is none. */
export async function openExternally(
  link: string,
  env: Environment,
  platform: NodeJS.Platform,
): Promise<boolean> {
  const [command, ...args] = browserCommand(env, platform) ?? []
  if (command === undefined) return false
  const child = spawn(command, [...args, link], { stdio: 'ignore', detached: true, env })
  const ended = new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
  })
  // Some browsers stay in the foreground; whatever fails does so at once.
  const patience = new AbortController()
  const waited = sleep(settled, true, { signal: patience.signal }).catch(() => true)
  const opened = await Promise.race([ended, waited])
  patience.abort()
  child.unref()
  return opened
}
