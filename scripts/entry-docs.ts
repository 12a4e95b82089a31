import { modules } from '../src/app/modules.ts'

/** Builds the page of all ledger entry types from the manifests of the modules. */
export const entriesPage = (): string =>
  [
    '# Entry types\n\nThe types of [ledger](ledger.md) entries, by the module that appends them.\n',
    ...modules.map(
      ({ name, entries }) => `## ${name}\n\n${formatTable(Object.entries(entries))}\n`,
    ),
  ].join('\n')

function formatTable(entries: readonly (readonly [string, string])[]): string {
  const rows = entries.map(([type, meaning]) => [`\`${type}\``, meaning] as const)
  const widths = [0, 1].map((at) => Math.max(7, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (...cells: string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = line(...widths.map((width) => '-'.repeat(width)))
  return [line('type', 'meaning'), rule, ...rows.map((row) => line(...row))].join('\n')
}
