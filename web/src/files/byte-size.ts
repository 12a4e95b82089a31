const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const number = new Intl.NumberFormat()

/** Formats a size in decimal units with at most three digits: `12 B`, `3.4 MB`. */
export function formatSize(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1
  return `${value.toFixed(digits).replace(/\.0$/, '')} ${units[unit]}`
}

/** Formats megabytes that are rounded to two decimals, without more digits than known. */
export const formatMegabytes = (megabytes: number): string =>
  megabytes < 1 ? `${megabytes} MB` : formatSize(megabytes * 1e6)

export const pluralize = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`

/** Formats a share; a share above zero never shows as 0%. */
export function formatShare(bytes: number, total: number): string {
  const share = total === 0 ? 0 : (bytes / total) * 100
  return share > 0 && share < 1 ? '< 1%' : `${Math.round(share)}%`
}
