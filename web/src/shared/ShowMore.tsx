import { Button } from './Button.tsx'

type Props = {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** Reads the next page of a list, where there is one. */
export const ShowMore = ({ query }: Props) =>
  query.hasNextPage && (
    <p className="p-3 text-center">
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show more
      </Button>
    </p>
  )
