// Finds a Chromium for the browser tests and the screenshots, or installs one as root on Debian (SV1).
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const isDebian = existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')
const isRoot = process.getuid?.() === 0

// Each window would load the two pages of the address bar, which takes more CPU than the page under test. The last
// flag of this name wins, so it includes the features that Playwright disables.
const disabledFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/** Disables everything that would contact anything but the page under test. */
export const chromiumFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${disabledFeatures.join()}`,
]

/** Returns the path of a Chromium that starts, or undefined. CHROMIUM_PATH excludes all others. */
export function findChromium(env = process.env): string | undefined {
  const named = env['CHROMIUM_PATH']
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean)
  const places = named
    ? [named]
    : [
        ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
        chromium.executablePath(),
      ]
  return places.find((place) => existsSync(place) && starts(place))
}

/** The chromium-browser of Ubuntu only prints where to get one. */
function starts(path: string): boolean {
  // On Windows, --version opens a window.
  if (process.platform === 'win32') return true
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

/** Finds a Chromium; as root on Debian it installs the package first if needed. */
export function provideChromium(): string | undefined {
  const found = findChromium()
  if (found || process.env['CHROMIUM_PATH'] || !isDebian || !isRoot) return found
  console.log('Installing the chromium package of this system…')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', 'chromium'],
  ])
    if (spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env }).status !== 0)
      return undefined
  return findChromium()
}

/** Returns the hint for a person without Chromium. */
export function chromiumMissing(): string {
  const named = process.env['CHROMIUM_PATH']
  if (named) return `CHROMIUM_PATH does not start: ${named}.`
  const own = `npx playwright-core install ${process.platform === 'linux' ? '--with-deps ' : ''}chromium`
  const debian = `${isRoot ? '' : 'sudo '}apt-get install -y chromium`
  return `Chromium not found. Install it with: ${isDebian ? debian : own}`
}
