const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A number of bytes as people say it: `1.2 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${at === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${units[at] ?? 'TB'}`
}

export const countText = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`
