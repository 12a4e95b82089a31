import type { Handoff } from '../approvals.ts'
import { plain, plainLines } from '../plain.ts'
import { leavesOf } from './leaves.ts'
import { dim, looking } from './lines.ts'
import type { Line } from './lines.ts'

const minute = (at: string) => at.slice(0, 16).replace('T', ' ')

export const overdueLines = ({ overdue, reminded }: Handoff): Line[] =>
  overdue
    ? [
        [
          looking('red', 'overdue'),
          reminded > 0
            ? `: people were reminded ${reminded === 1 ? 'once' : `${reminded} times`}`
            : '',
        ],
      ]
    : []

export const triedLines = ({ attempted_actions: tried }: Handoff): Line[] =>
  tried.flatMap((one): Line[] =>
    typeof one === 'string'
      ? plainLines(one).map((text, at) => [at === 0 ? '• ' : '  ', text])
      : [['• ', plain(JSON.stringify(one) ?? 'null')]],
  )

export function contextLines({ context, proposal_id: proposal }: Handoff): Line[] {
  const isEmpty =
    context === null || (typeof context === 'object' && Object.keys(context).length === 0)
  const lines: Line[] = isEmpty
    ? []
    : leavesOf(context).map(([path, value]) => [path === '' ? value : `${plain(path)}: ${value}`])
  return proposal === null ? lines : [...lines, [`about proposal ${plain(proposal)}`]]
}

/** What the agent did last in that domain, oldest first (H5). */
export const recentLines = ({ packet }: Handoff): Line[] =>
  packet.recent.map(({ seq, at, type, action, subject, outcome }) => [
    dim(`${minute(at)} `),
    plain(
      [action ?? type, subject, outcome && `→ ${outcome}`, `(entry ${seq})`]
        .filter((part) => part)
        .join(' '),
    ),
  ])

/** One that was never asked back about and not answered has nothing to tell here (H6). */
export const threadLines = ({ thread }: Handoff): Line[] =>
  thread.length < 2 && thread.every(({ resolution }) => resolution === undefined)
    ? []
    : thread.flatMap(({ at, reason, resolution, hand_back, instructions }): Line[] => [
        [dim(`${minute(at)} `), `asked: ${plain(reason)}`],
        ...(resolution === undefined
          ? []
          : [
              [
                `  answered: ${plain(resolution)}`,
                dim(hand_back ? ' (handed back)' : ' (not handed back)'),
              ],
            ]),
        ...(instructions === undefined ? [] : [[`  instructions: ${plain(instructions)}`]]),
      ])
