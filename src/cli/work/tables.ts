import { painted, wrapped } from '../inbox/lines.ts'
import type { Line } from '../inbox/lines.ts'
import { table } from '../output.ts'
import { plain } from '../plain.ts'
import { claimText, titleOf, wordsOf } from './item-lines.ts'
import type { Brief } from './wire.ts'

const { stdout } = process

export function itemTable(items: readonly Brief[]): string[] {
  const hasProject = items.some(({ project }) => project !== undefined)
  const now = Date.now()
  const head = ['ID', 'STATUS', 'PRIORITY', 'IN', 'CLAIMED', 'WHAT']
  return table(
    [...(hasProject ? ['PROJECT'] : []), ...head],
    items.map((item) => [
      ...(hasProject ? [plain(item.project ?? '')] : []),
      plain(item.id),
      wordsOf(item.status),
      plain(item.priority ?? ''),
      plain(item.sprint_id ?? (item.kind === 'backlog' ? 'backlog' : '')),
      item.claimed_by === undefined ? '' : claimText(item.claimed_by, item.until ?? '', now),
      titleOf(item),
    ]),
  )
}

/** As wide as the terminal; whole where nobody looks. */
export const onTerminal = (line: Line): string[] =>
  (stdout.isTTY ? wrapped(line, stdout.columns) : [line]).map((one) => painted(one, stdout))
