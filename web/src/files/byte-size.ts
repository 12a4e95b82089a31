const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const number = new Intl.NumberFormat()

/** `12 B`, `3.4 MB`: three digits at most, as disks are sold, in thousands. */
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

/** Of megabytes that were rounded to a hundredth: no digit is told that is not known. */
export const formatMegabytes = (megabytes: number): string =>
  megabytes < 1 ? `${megabytes} MB` : formatSize(megabytes * 1e6)

export const pluralize = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`

/** What a part is of the whole: never nothing where there is something. */
export function formatShare(bytes: number, whole: number): string {
  const share = whole === 0 ? 0 : (bytes / whole) * 100
  return share > 0 && share < 1 ? '< 1 %' : `${Math.round(share)} %`
}
