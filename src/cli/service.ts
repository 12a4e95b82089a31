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

/** The daemon as the machine's own services describe it: a program, its arguments, where its log goes. */
export type Service = {
  readonly name: string
  readonly program: readonly string[]
  readonly state: string
}

/** systemd, for the user. `up` ends by itself with 0 when asked to, so only a crash brings it back. */
export const systemdUnit = ({ program }: Service): string => `[Unit]
Description=cowork, where people and AI agents work together

[Service]
ExecStart=${program.map(systemdWord).join(' ')}
Restart=on-failure
RestartSec=2
TimeoutStopSec=30

[Install]
WantedBy=default.target
`

/** % and $ mean something to systemd even in quotes. */
const systemdWord = (word: string): string =>
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
  <string>${xml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(state)}</string>
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
      <Command>${xml(command)}</Command>
      <Arguments>${xml(args.map(windowsWord).join(' '))}</Arguments>
      <WorkingDirectory>${xml(state)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`

/** Backslashes count only before a quote, and then double. */
const windowsWord = (word: string): string =>
  /[\s"]/.test(word) || word === ''
    ? `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')}"`
    : word

const xmlSigns: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const xml = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => xmlSigns[sign] ?? sign)

export type ServiceOptions = PromptOptions & {
  readonly print?: boolean
  readonly envFile?: readonly string[]
}

type Manager = {
  readonly title: string
  readonly file: string
  readonly text: string
  /** Fails where this machine has no such manager, or has none for this user. */
  readonly probe: readonly string[]
  readonly enable: readonly (readonly string[])[]
  /** Begins at once what would else begin at the next login. */
  readonly begin: readonly string[]
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
  // The Task Scheduler reads UTF-16 only, with its mark.
  if (file.endsWith('.xml')) writeFileSync(file, `\uFEFF${text}`, 'utf16le')
  else writeFileAtomic(file, text, 0o644)
  const running = findRunningDaemon(context.paths)
  for (const words of [...manager.enable, ...(running ? [] : [manager.begin])])
    await expectOk(words, context.env)
  context.out.data({ installed: true, file, started: !running }, () => [
    `cowork starts at login through ${title} (${file}).`,
    running
      ? `The daemon that runs now (process ${running.pid}) goes on until it ends or you log out.`
      : 'It runs.',
  ])
}

export async function removeService(context: Context, options: ServiceOptions): Promise<void> {
  const { title } = getServiceManager(context, options)
  if (!isInstalled(context))
    return context.out.data({ removed: false }, () => ['cowork does not start at login.'])
  await confirm(`Stop starting cowork at login through ${title}?`, options)
  const file = await unregisterService(context)
  context.out.data({ removed: true, file }, () => ['cowork no longer starts at login.'])
}

export const isInstalled = (context: Context): boolean =>
  existsSync(getServiceManager(context).file)

/** A manager that is not there any more has nothing left to be told. */
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
): Manager {
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
      begin: ['launchctl', 'bootstrap', domain, file],
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
      begin: ['schtasks', '/Run', '/TN', name],
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
    begin: user('start', `${name}.service`),
    disable: [user('disable', `${name}.service`), user('daemon-reload')],
  }
}

async function probe({ title, probe: words, file }: Manager, env: Environment): Promise<void> {
  const { code, told } = await run(words, env)
  if (code === 0) return
  throw new CoworkError(
    'service_unavailable',
    `${title} does not answer for this user here: ${told || `\`${words.join(' ')}\` failed`}.`,
    {
      hint: `Nothing was written. Start cowork with \`cowork up -d\`, or give the text of \`cowork service install --print\` (for ${file}) to what starts programs on this machine.`,
    },
  )
}

async function expectOk(words: readonly string[], env: Environment): Promise<void> {
  const { code, told } = await run(words, env)
  if (code !== 0)
    throw new CoworkError('service_failed', `\`${words.join(' ')}\` failed: ${told}.`, {
      hint: 'Take it out again with `cowork service remove`, or run the command by hand.',
    })
}

function run(
  [command = '', ...args]: readonly string[],
  env: Environment,
): Promise<{ code: number; told: string }> {
  return new Promise((settle) => {
    execFile(command, args, { env, timeout: 30_000 }, (error, stdout, stderr) => {
      const told = (stderr || stdout || (error?.message ?? '')).trim().replace(/\.$/, '')
      settle({ code: error ? 1 : 0, told })
    })
  })
}

export const isUpToDate = (context: Context): boolean => {
  const { file, text } = getServiceManager(context)
  return file.endsWith('.xml') || readFileSync(file, 'utf8') === text
}
