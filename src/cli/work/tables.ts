import { painted, wrapped } from '../inbox/lines.ts'
import type { Line } from '../inbox/lines.ts'
import { tableOf } from '../output.ts'
import { claimText, titleOf, wordsOf } from './item-lines.ts'
import type { Brief } from './wire.ts'

const { stdout } = process

export function itemTable(items: readonly Brief[]): string[] {
  const hasProject = items.some(({ project }) => project !== undefined)
  const now = Date.now()
  return tableOf(items, '', {
    ...(hasProject && { PROJECT: (item: Brief) => item.project }),
    ID: (item) => item.id,
    STATUS: (item) => wordsOf(item.status),
    PRIORITY: (item) => item.priority,
    IN: (item) => item.sprint_id ?? (item.kind === 'backlog' ? 'backlog' : ''),
    CLAIMED: ({ claimed_by: by, until = '' }) => by && claimText(by, until, now),
    WHAT: titleOf,
  })
}

/** As wide as the terminal; whole where nobody looks. */
export const onTerminal = (line: Line): string[] =>
  (stdout.isTTY ? wrapped(line, stdout.columns) : [line]).map((one) => painted(one, stdout))
