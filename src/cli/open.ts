import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '#base/config/env.ts'
import { screens } from '#base/screens.ts'
import { createClient } from './client.ts'
import type { Context } from './context.ts'
import { resolvePrefix } from './lookup.ts'

/** Creates a sign-in link to the console and opens it; prints it where no browser can be opened (I6). */
export async function open(
  context: Context,
  screenName: string | undefined,
  { print = false }: { readonly print?: boolean },
): Promise<void> {
  const screen = screenName === undefined ? undefined : resolvePrefix(screenName, screens, 'screen')
  const signIn = await createClient(context).call('cowork_open_link')
  const link = withScreen(signIn.link, screen)
  const opened = !print && (await openExternally(link, context.env, process.platform))
  context.out.data({ link, expires_at: signIn.expires_at, opened }, () => [
    opened ? 'Opened the console in your browser.' : link,
  ])
  if (!opened) context.out.note('The link works once, within 5 minutes.')
}

export function withScreen(link: string, screen: string | undefined): string {
  const url = new URL(link)
  if (screen !== undefined) url.pathname = `/${screen}`
  return url.href
}

/** Returns the program that opens a URL, or undefined without a desktop. */
export function browserCommand(
  env: Environment,
  platform: NodeJS.Platform,
): readonly string[] | undefined {
  if (platform === 'darwin') return ['open']
  // Without a shell, which would interpret the & of a URL.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : undefined
}

const openTimeoutMs = 3000

/** Opens a URL or a folder on the desktop; returns false without a desktop. */
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
  // Some browsers stay in the foreground; a failing program exits early.
  const timer = new AbortController()
  const waited = sleep(openTimeoutMs, true, { signal: timer.signal }).catch(() => true)
  const opened = await Promise.race([ended, waited])
  timer.abort()
  child.unref()
  return opened
}
