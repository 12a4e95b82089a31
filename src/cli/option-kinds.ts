import { InvalidArgumentError, Option } from 'commander'

/** Options that several commands take. */

export const count = (lines: number): Option =>
  new Option('-n, --lines <count>', 'how many').argParser(positive).default(lines)

export const days = (): Option =>
  new Option('--days <count>', 'how far back').argParser(positive).default(30)

export function positive(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is not a positive number.')
  return Number(text)
}
