import type { ReactNode } from 'react'
import { Menu } from '../shared/Menu.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { openSprints } from './board.ts'
import { sprintLabel, statusNames } from './text.ts'
import { statuses } from './work.ts'
import type { Card, Sprint } from './work.ts'
import { statusStyles } from './StatusChips.tsx'
import type { Moves } from './use-moves.ts'

/** Limit of sprints in the menu. */
const maxSprints = 8

type Props = {
  story: Pick<Card, 'id' | 'rev' | 'status' | 'sprint_id'>
  sprints: readonly Sprint[]
  moves: Moves
  trigger: ReactNode
}

export const MoveMenu = ({ story, sprints, moves, trigger }: Props) => (
  <Menu
    trigger={trigger}
    items={[
      ...statuses
        .filter((status) => status !== story.status)
        .map((status) => ({
          label: statusNames[status],
          icon: statusStyles[status][1],
          act: () => void moves.toStatus(story, status),
        })),
      ...openSprints(sprints)
        .filter(({ id }) => id !== story.sprint_id)
        .slice(0, maxSprints)
        .map((sprint) => ({
          label: `Move to sprint ${sanitizeText(sprintLabel(sprint, sprints))}`,
          icon: 'call' as const,
          act: () => void moves.toSprint(story, sprint.id),
        })),
    ]}
  />
)
