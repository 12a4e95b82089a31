import { Button } from './Button.tsx'
import { Icon } from './Icon.tsx'

type Props = {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

export const ShowMore = ({ query }: Props) =>
  query.hasNextPage && (
    <p className="p-3 text-center">
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more
      </Button>
    </p>
  )

type PillProps = { count: number; onPress: () => void; className: string }

export const NewPill = ({ count, onPress, className }: PillProps) =>
  count > 0 && (
    <button
      type="button"
      onClick={onPress}
      className={`settle absolute left-1/2 z-10 flex h-7 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-panel px-3 text-xs font-[550] text-accent shadow-raised max-md:h-9 ${className}`}
    >
      <Icon name="up" size={14} />
      {count} new
    </button>
  )
