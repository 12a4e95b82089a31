import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import type { Environment } from '#base/config/env.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { ensureStateDir } from '#base/state.ts'
import type { Context } from './context.ts'
import { findRunningDaemon } from './daemon.ts'
import { launcherPath } from './launcher.ts'
import { confirm, printNote } from './terminal.ts'
import type { PromptOptions } from './terminal.ts'

/** The daemon as a system service. */
export type Service = {
  readonly name: string
  readonly program: readonly string[]
  readonly state: string
}

/** systemd user unit. `up` exits with 0 on request, so systemd restarts it only after a crash. */
export const systemdUnit = ({ program }: Service): string => `[Unit]
Description=cowork, where people and AI agents work together

[Service]
ExecStart=${program.map(quoteForSystemd).join(' ')}
Restart=on-failure
RestartSec=2
TimeoutStopSec=30

[Install]
WantedBy=default.target
`

/** systemd expands % and $ even in quotes. */
const quoteForSystemd = (word: string): string =>
  `"${word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$')}"`

export const launchdPlist = ({ name, program, state }: Service): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${escapeXml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    <string>${escapeXml(word)}</string>`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(state)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
`

export const scheduledTask = ({ program: [command = '', ...args], state }: Service): string =>
  `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>cowork, where people and AI agents work together</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(command)}</Command>
      <Arguments>${escapeXml(args.map(quoteForWindows).join(' '))}</Arguments>
      <WorkingDirectory>${escapeXml(state)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`

/** Doubles backslashes before a quote; elsewhere they are literal. */
const quoteForWindows = (word: string): string =>
  /[\s"]/.test(word) || word === ''
    ? `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')}"`
    : word

const xmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (sign) => xmlEntities[sign] ?? sign)

export type ServiceOptions = PromptOptions & {
  readonly print?: boolean
  readonly envFile?: readonly string[]
}

type ServiceManager = {
  readonly title: string
  readonly file: string
  readonly text: string
  /** Fails if the machine has no such service manager, or none for this user. */
  readonly probe: readonly string[]
  readonly enable: readonly (readonly string[])[]
  /** Starts the service now instead of at the next login. */
  readonly startNow: readonly string[]
  readonly disable: readonly (readonly string[])[]
}

export async function installService(context: Context, options: ServiceOptions): Promise<void> {
  const manager = getServiceManager(context, options)
  const { title, file, text } = manager
  if (options.print) return context.out.data({ file, text }, () => text.trimEnd().split('\n'))
  await probe(manager, context.env)
  printNote([`${file}:`, ...text.trimEnd().split('\n')], options)
  await confirm(`Start cowork at login through ${title}?`, options)
  ensureStateDir(context.paths)
  mkdirSync(dirname(file), { recursive: true })
  // The Task Scheduler reads only UTF-16 with a byte order mark.
  if (file.endsWith('.xml')) writeFileSync(file, `\uFEFF${text}`, 'utf16le')
  else writeFileAtomic(file, text, 0o644)
  const running = findRunningDaemon(context.paths)
  for (const words of [...manager.enable, ...(running ? [] : [manager.startNow])])
    await expectOk(words, context.env)
  context.out.data({ installed: true, file, started: !running }, () => [
    `Installed: cowork starts at login through ${title} (${file}).`,
    running
      ? `The running daemon (process ${running.pid}) stays until it is stopped or you log out.`
      : 'The daemon is running.',
  ])
}

export async function removeService(context: Context, options: ServiceOptions): Promise<void> {
  const { title } = getServiceManager(context, options)
  if (!isInstalled(context))
    return context.out.data({ removed: false }, () => ['No service is installed.'])
  await confirm(`Remove the login service of ${title}?`, options)
  const file = await unregisterService(context)
  context.out.data({ removed: true, file }, () => ['Removed: cowork no longer starts at login.'])
}

export const isInstalled = (context: Context): boolean =>
  existsSync(getServiceManager(context).file)

/** Removes the service. Errors of the service manager are ignored: it may have been uninstalled. */
export async function unregisterService(context: Context): Promise<string> {
  const { file, disable } = getServiceManager(context)
  for (const words of disable) await run(words, context.env)
  rmSync(file, { force: true })
  return file
}

export function getServiceManager(
  { paths, locationArgs, env }: Pick<Context, 'paths' | 'locationArgs' | 'env'>,
  { envFile = [] }: ServiceOptions = {},
  { platform, home, uid }: { platform: NodeJS.Platform; home: string; uid: number } = {
    platform: process.platform,
    home: homedir(),
    uid: process.getuid?.() ?? 0,
  },
): ServiceManager {
  const isDefault = paths.dir === join(home, '.cowork')
  const name = isDefault ? 'cowork' : `cowork-${sha256Hex(paths.dir).slice(0, 8)}`
  const files = envFile.flatMap((file) => ['--env-file', resolve(file)])
  const program = [process.execPath, '--', launcherPath(), 'up', ...locationArgs, ...files]
  const service: Service = { name, program, state: paths.dir }
  if (platform === 'darwin') {
    const file = join(home, 'Library', 'LaunchAgents', `${name}.plist`)
    const domain = `gui/${uid}`
    return {
      title: 'launchd',
      file,
      text: launchdPlist(service),
      probe: ['launchctl', 'print', domain],
      enable: [['launchctl', 'enable', `${domain}/${name}`]],
      startNow: ['launchctl', 'bootstrap', domain, file],
      disable: [['launchctl', 'bootout', `${domain}/${name}`]],
    }
  }
  if (platform === 'win32') {
    const file = join(paths.dir, 'service.xml')
    return {
      title: 'the Task Scheduler',
      file,
      text: scheduledTask(service),
      probe: ['schtasks', '/Query', '/TN', '\\'],
      enable: [['schtasks', '/Create', '/F', '/TN', name, '/XML', file]],
      startNow: ['schtasks', '/Run', '/TN', name],
      disable: [['schtasks', '/Delete', '/F', '/TN', name]],
    }
  }
  const units = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'systemd', 'user')
  const user = (...words: string[]) => ['systemctl', '--user', ...words]
  return {
    title: 'systemd',
    file: join(units, `${name}.service`),
    text: systemdUnit(service),
    probe: user('show-environment'),
    enable: [user('daemon-reload'), user('enable', `${name}.service`)],
    startNow: user('start', `${name}.service`),
    disable: [user('disable', `${name}.service`), user('daemon-reload')],
  }
}

async function probe(
  { title, probe: words, file }: ServiceManager,
  env: Environment,
): Promise<void> {
  const { code, output } = await run(words, env)
  if (code === 0) return
  throw new CoworkError(
    'service_unavailable',
    `Cannot use ${title} for this user: ${output || `\`${words.join(' ')}\` failed`}.`,
    {
      hint: `Run \`cowork up -d\`, or install the output of \`cowork service install --print\` (for ${file}) yourself. Nothing was written.`,
    },
  )
}

async function expectOk(words: readonly string[], env: Environment): Promise<void> {
  const { code, output } = await run(words, env)
  if (code !== 0)
    throw new CoworkError('service_failed', `\`${words.join(' ')}\` failed: ${output}.`, {
      hint: 'Run `cowork service remove`, or run the command manually.',
    })
}

function run(
  [command = '', ...args]: readonly string[],
  env: Environment,
): Promise<{ code: number; output: string }> {
  return new Promise((settle) => {
    execFile(command, args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      const output = (stderr || stdout || (error?.message ?? '')).trim().replace(/\.$/, '')
      settle({ code: error ? 1 : 0, output })
    })
  })
}

export const isUpToDate = (context: Context): boolean => {
  const { file, text } = getServiceManager(context)
  return file.endsWith('.xml') || readFileSync(file, 'utf8') === text
}
