/** A client by its own account: `Claude Code 2.1 over HTTP`, `Chrome on Linux`. */
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
  const over =
    transport === 'http' ? 'over HTTP' : transport === 'stdio' ? 'over stdio' : `via ${transport}`
  return [name, version, over].filter(Boolean).join(' ')
}

/** Longer names first: every browser also claims to be the ones before it. */
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
  const system = systems.find(([mark]) => mark.test(userAgent))?.[1]
  // What the ledger keeps of a long name may end before the browser's own.
  const browser = browsers.find(([mark]) => mark.test(userAgent))?.[1] ?? 'Browser'
  return system ? `${browser} on ${system}` : browser
}
