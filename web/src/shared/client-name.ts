/** Formats a client as it reports itself: `Claude Code 2.1 over HTTP`, `Chrome on Linux`. */
export function formatClient({
  name,
  version,
  transport,
}: {
  name: string
  version: string
  transport: string
}): string {
  const browser = browserName(name)
  if (browser) return browser
  const via =
    transport === 'http' ? 'over HTTP' : transport === 'stdio' ? 'over stdio' : `via ${transport}`
  return [name, version, via].filter(Boolean).join(' ')
}

/** Most specific first: browsers also claim the names of their ancestors. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(Headless)?Chrome\//, 'Chrome'],
  [/\bVersion\/.*Safari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

export function browserName(userAgent: string): string | undefined {
  if (!userAgent.startsWith('Mozilla/')) return undefined
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  // The ledger truncates long names, perhaps before the name of the browser.
  const browser = browsers.find(([mark]) => mark.test(userAgent))?.[1] ?? 'Browser'
  return system ? `${browser} on ${system}` : browser
}
