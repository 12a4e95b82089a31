import { expect, test } from 'vitest'
import { statePaths } from '#base/state.ts'
import { launchdPlist, getServiceManager, scheduledTask, systemdUnit } from './service.ts'

const service = {
  name: 'cowork',
  program: ['/opt/node', '/opt/my "cowork"/50%/$HOME.mjs', 'up', '--state', '/home/a & b/.cowork'],
  state: '/home/a & b/.cowork',
}

test('K12 a systemd unit starts exactly the given command, and restarts only after a crash', () => {
  expect(systemdUnit(service)).toContain(
    String.raw`ExecStart="/opt/node" "/opt/my \"cowork\"/50%%/$$HOME.mjs" "up" "--state" "/home/a & b/.cowork"`,
  )
  expect(systemdUnit(service)).toContain('Restart=on-failure')
  expect(systemdUnit(service)).toContain('WantedBy=default.target')
})

test('K12 a launchd property list escapes the command as XML and starts at login', () => {
  const text = launchdPlist(service)
  expect(text).toContain('<string>/opt/my &quot;cowork&quot;/50%/$HOME.mjs</string>')
  expect(text).toContain('<string>/home/a &amp; b/.cowork</string>')
  expect(text).toMatch(/<key>RunAtLoad<\/key>\s*<true\/>/)
  expect(text).toMatch(/<key>SuccessfulExit<\/key>\s*<false\/>/)
})

test('K12 a Windows task quotes its command line as Windows parses it', () => {
  const program = ['C:\\node.exe', 'C:\\my cowork\\', 'a"b', 'plain', 'C:\\x\\']
  const text = scheduledTask({ ...service, program })
  expect(text).toContain('<Command>C:\\node.exe</Command>')
  expect(text).toContain(
    String.raw`<Arguments>&quot;C:\my cowork\\&quot; &quot;a\&quot;b&quot; plain C:\x\</Arguments>`,
  )
  expect(text).toContain('<LogonTrigger>')
})

const context = (dir: string) => ({
  paths: statePaths(dir),
  locationArgs: ['--state', dir],
  env: {},
})

test('K12 each platform has its own file, and each state directory its own service name', () => {
  const managerOn = (platform: NodeJS.Platform, dir = '/home/a/.cowork') =>
    getServiceManager(context(dir), {}, { platform, home: '/home/a', uid: 501 })
  expect(managerOn('linux').file).toBe('/home/a/.config/systemd/user/cowork.service')
  expect(managerOn('darwin').file).toBe('/home/a/Library/LaunchAgents/cowork.plist')
  expect(managerOn('darwin').startNow).toEqual([
    'launchctl',
    'bootstrap',
    'gui/501',
    '/home/a/Library/LaunchAgents/cowork.plist',
  ])
  expect(managerOn('win32').enable).toEqual([
    ['schtasks', '/Create', '/F', '/TN', 'cowork', '/XML', '/home/a/.cowork/service.xml'],
  ])
  expect(managerOn('linux', '/srv/team').file).toMatch(/cowork-[0-9a-f]{8}\.service$/)
})

test('K12 the service uses the state directory and env files of the command', () => {
  const { text } = getServiceManager(
    context('/home/a/.cowork'),
    { envFile: ['/etc/cowork.env'] },
    { platform: 'linux', home: '/home/a', uid: 0 },
  )
  expect(text).toMatch(
    /" "--" "[^"]+bin\/cowork\.mjs" "up" "--state" "\/home\/a\/\.cowork" "--env-file" "\/etc\/cowork\.env"\n/,
  )
})
