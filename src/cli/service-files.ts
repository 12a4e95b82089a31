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

/** launchd, for the user. */
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

/** Windows Task Scheduler, at the user's logon. */
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
