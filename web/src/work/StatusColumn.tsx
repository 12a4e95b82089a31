import { Button } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { waitsFor } from './board.ts'
import { statusNames } from './text.ts'
import type { Card, Sprint, Status } from './work.ts'
import { statusLooks } from './Looks.tsx'
import { StoryCard } from './StoryCard.tsx'
import type { Moves } from './use-moves.ts'

const inks = {
  plain: 'text-soft',
  accent: 'text-accent',
  escalate: 'text-escalate',
  suggest: 'text-suggest',
  act: 'text-act',
}

type Props = {
  status: Status
  /** Those that are drawn, of so many. */
  cards: readonly Card[]
  count: number
  /** All of the board. */
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
  // What hardly ever holds anything takes no room from the others.
  const isSlim = status === 'dropped' && count === 0
  const [tone, icon] = statusLooks[status]
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
        <span className={inks[tone]}>
          <Icon name={icon} size={14} />
        </span>
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
          aria-label={`${name}, the most urgent first`}
          className="scroll-thin grid min-h-0 content-start gap-1.5 overflow-y-auto px-1.5 pb-1.5 max-md:overflow-visible"
        >
          {cards.map((card) => (
            <StoryCard
              key={card.id}
              card={card}
              waits={waitsFor(card, stories)}
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
