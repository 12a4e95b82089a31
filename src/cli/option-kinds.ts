import { InvalidArgumentError, Option } from 'commander'

/** Options that several commands take. */

export const count = (lines: number): Option =>
  new Option('-n, --lines <count>', 'how many').argParser(positive).default(lines)

export const days = (): Option =>
  new Option('--days <count>', 'how far back').argParser(positive).default(30)

/** The choice of tools (SV18). */
export const toolOptions = (): readonly Option[] => [
  new Option('--tools <names>', 'tools to list: toolsets, tools, core or all (default: core)'),
  new Option('--exclude <names>', 'toolsets and tools that it may not call'),
  new Option('--read-only', 'only tools that read, and those that ask a person'),
]

export function positive(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is not a positive number.')
  return Number(text)
}
