import { Link } from '@tanstack/react-router'
import { IconButton } from '../shared/Button.tsx'
import { Chip } from '../shared/Chips.tsx'
import { Icon } from '../shared/Icon.tsx'
import { Plain } from '../shared/Plain.tsx'
import { plainString } from '../shared/plain.ts'
import { useSecond } from '../shared/use-now.ts'
import { leaseLeft } from './text.ts'
import type { Card, Sprint } from './work.ts'
import { PriorityChip } from './Looks.tsx'
import { MoveMenu } from './MoveMenu.tsx'
import type { Moves } from './use-moves.ts'
import { useView, useWork } from './work-context.ts'

type Props = {
  card: Card
  waits: readonly string[]
  sprints: readonly Sprint[]
  hint: string
  isHeld: boolean
  moves: Moves
}

export function StoryCard({ card, waits, sprints, hint, isHeld, moves }: Props) {
  const view = useView()
  const { mayChange } = useWork()
  const isOpen = view.story === card.id
  return (
    <li className={`relative ${isHeld ? 'opacity-60' : ''}`}>
      <Link
        to="."
        search={{ ...view, story: card.id }}
        data-row={card.id}
        draggable={false}
        aria-current={isOpen ? 'true' : undefined}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-describedby={hint}
        className={`block scroll-m-3 rounded border bg-panel select-none ${
          isOpen
            ? 'border-accent shadow-[inset_2px_0_var(--accent)]'
            : 'border-line hover:border-edge'
        }`}
      >
        <CardFace card={card} waits={waits} />
      </Link>
      {mayChange && (
        <span className="absolute top-1 right-1">
          <MoveMenu
            story={card}
            sprints={sprints}
            moves={moves}
            trigger={
              <IconButton
                icon="more"
                label={`Move ${plainString(card.id)}`}
                small
                className="max-md:size-9"
              />
            }
          />
        </span>
      )}
    </li>
  )
}

export const CardFace = ({ card, waits }: { card: Card; waits: readonly string[] }) => (
  <span className="grid gap-1 px-2.5 py-2">
    <span className="pr-6 font-mono text-xs break-all text-faint">
      <Plain text={card.id} />
    </span>
    {card.title !== undefined && (
      <span className="line-clamp-3 break-words">
        <Plain text={card.title} />
      </span>
    )}
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft empty:hidden">
      {card.priority && card.priority !== 'medium' && <PriorityChip priority={card.priority} />}
      {card.estimate !== undefined && <span>est. {card.estimate}</span>}
      {card.claimed_by !== undefined && card.until !== undefined && (
        <Claim agent={card.claimed_by} until={card.until} />
      )}
      {waits.length > 0 && (
        <Chip tone="plain" icon="clock">
          waits for <Plain text={waits.join(', ')} />
        </Chip>
      )}
    </span>
  </span>
)

const Claim = ({ agent, until }: { agent: string; until: string }) => (
  <span className="inline-flex min-w-0 items-center gap-1" title="Claimed by an agent">
    <Icon name="agent" size={12} />
    <span className="truncate">
      <Plain text={agent} />
    </span>
    <span className="shrink-0 text-faint">{leaseLeft(until, useSecond())}</span>
  </span>
)
