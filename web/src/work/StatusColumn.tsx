import { Link } from '@tanstack/react-router'
import { Button, IconButton } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { openDependencies } from './board.ts'
import { statusNames, formatLease } from './text.ts'
import type { Card, Sprint, Status } from './work.ts'
import { statusStyles, PriorityChip } from './StatusChips.tsx'
import type { Moves } from './use-moves.ts'
import { Chip } from '../shared/Chips.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { useSecond } from '../shared/use-now.ts'
import { MoveMenu } from './MoveMenu.tsx'
import { useView, useWork } from './work-context.ts'

const toneClasses = {
  plain: 'text-soft',
  accent: 'text-accent',
  escalate: 'text-escalate',
  suggest: 'text-suggest',
  act: 'text-act',
}

type Props = {
  status: Status
  /** The rendered cards; `count` is the total. */
  cards: readonly Card[]
  count: number
  /** All stories of the board. */
  stories: readonly Card[]
  sprints: readonly Sprint[]
  hint: string
  heldId: string | undefined
  isOver: boolean
  moves: Moves
  onShowAll: () => void
}

export function StatusColumn(props: Props) {
  const { status, cards, count, stories, sprints, hint, heldId, isOver, moves, onShowAll } = props
  const isTarget = isOver && !cards.some(({ id }) => id === heldId)
  // The dropped column is rarely used, so it is narrow while empty.
  const isSlim = status === 'dropped' && count === 0
  const [tone, icon] = statusStyles[status]
  const name = statusNames[status]
  return (
    <section
      data-column={status}
      aria-label={name}
      className={`flex min-h-0 flex-col rounded-lg md:scroll-mx-12 ${isSlim ? 'md:w-10' : 'md:w-46 md:max-w-80 md:flex-1'} ${
        isTarget ? 'bg-accent-bg outline-2 outline-accent outline-dashed' : 'md:bg-raised/60'
      }`}
    >
      <h2
        title={name}
        className="flex h-9 shrink-0 items-center gap-2 px-2.5 text-xs font-semibold"
      >
        <Icon name={icon} size={14} className={toneClasses[tone]} />
        <span className={isSlim ? 'md:sr-only' : 'truncate'}>{name}</span>
        <span className={`font-normal text-faint ${isSlim ? 'md:sr-only' : ''}`}>{count}</span>
        {isTarget && (
          <span className={`ml-auto font-normal text-accent ${isSlim ? 'md:sr-only' : ''}`}>
            Move here
          </span>
        )}
      </h2>
      {cards.length > 0 && (
        <ul
          aria-label={`${name} by priority`}
          className="scroll-thin grid min-h-0 content-start gap-1.5 overflow-y-auto px-1.5 pb-1.5 max-md:overflow-visible"
        >
          {cards.map((card) => (
            <StoryCard
              key={card.id}
              card={card}
              blockedBy={openDependencies(card, stories)}
              sprints={sprints}
              hint={hint}
              isHeld={card.id === heldId}
              moves={moves}
            />
          ))}
          {count > cards.length && (
            <li className="p-1 text-center">
              <Button size="sm" onClick={onShowAll}>
                Show all {count}
              </Button>
            </li>
          )}
        </ul>
      )}
    </section>
  )
}

type CardProps = {
  card: Card
  blockedBy: readonly string[]
  sprints: readonly Sprint[]
  hint: string
  isHeld: boolean
  moves: Moves
}

function StoryCard({ card, blockedBy, sprints, hint, isHeld, moves }: CardProps) {
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
        <CardFace card={card} blockedBy={blockedBy} />
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
                label={`Move ${sanitizeText(card.id)}`}
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

export const CardFace = ({ card, blockedBy }: { card: Card; blockedBy: readonly string[] }) => (
  <span className="grid gap-1 px-2.5 py-2">
    <SafeText as="span" className="pr-6 font-mono text-xs break-all text-faint" text={card.id} />
    {card.title !== undefined && (
      <SafeText as="span" className="line-clamp-3 break-words" text={card.title} />
    )}
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-soft empty:hidden">
      {card.priority && card.priority !== 'medium' && <PriorityChip priority={card.priority} />}
      {card.estimate !== undefined && <span>est. {card.estimate}</span>}
      {card.claimed_by !== undefined && card.until !== undefined && (
        <ClaimLabel agent={card.claimed_by} until={card.until} />
      )}
      {blockedBy.length > 0 && (
        <Chip tone="plain" icon="clock">
          blocked by <SafeText text={blockedBy.join(', ')} />
        </Chip>
      )}
    </span>
  </span>
)

const ClaimLabel = ({ agent, until }: { agent: string; until: string }) => (
  <span className="inline-flex min-w-0 items-center gap-1" title="Claimed by an agent">
    <Icon name="agent" size={12} />
    <SafeText as="span" className="truncate" text={agent} />
    <span className="shrink-0 text-faint">{formatLease(until, useSecond())}</span>
  </span>
)
