import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useCommand } from '../api/queries.ts'
import { formatCommands } from '../setup/command.ts'
import { Button } from './Button.tsx'
import { Icon } from './Icon.tsx'
import type { IconName } from './Icon.tsx'
import { formatPasskeyError } from '../api/passkey.ts'
import { formatError } from './toast.ts'

type Props = { icon: IconName; title: string; children?: ReactNode }

export const EmptyState = ({ icon, title, children }: Props) => (
  <div className="mx-auto grid max-w-90 justify-items-center gap-3 px-6 py-16 text-center">
    <Icon name={icon} size={24} className="text-faint" />
    <p className="font-[550]">{title}</p>
    <div className="grid justify-items-center gap-3 text-soft">{children}</div>
  </div>
)

type ErrorProps = {
  error: unknown
  retry?: () => void
  /** Other actions. */
  children?: ReactNode
}

export function ErrorState({ error, retry, children }: ErrorProps) {
  const hint = error instanceof ApiError ? error.hint : undefined
  return (
    <div
      role="alert"
      className="mx-auto grid max-w-100 justify-items-center gap-3 px-6 py-16 text-center"
    >
      <Icon name="warn" size={24} className="text-escalate" />
      <p className="font-[550]">{error instanceof Error ? error.message : 'Unexpected error.'}</p>
      {hint && <Hint as="p" className="text-soft" text={hint} />}
      <div className="flex flex-wrap justify-center gap-2">
        {retry && <Button onClick={retry}>Try again</Button>}
        {children}
      </div>
    </div>
  )
}

type HintProps = { text: string; as?: 'p'; className?: string }

/** Shows text with commands in backticks, written as they run on that machine (K4). */
export function Hint({ text, as: Tag, ...rest }: HintProps) {
  const parts = formatCommands(text, useCommand()).split('`')
  const words = parts.map((part, at) =>
    at % 2 === 1 ? (
      <code
        // The parts of a sentence never change their order.
        // oxlint-disable-next-line react/no-array-index-key
        key={at}
        className="rounded-sm bg-raised px-1 font-mono text-code [overflow-wrap:anywhere] text-text"
      >
        {part}
      </code>
    ) : (
      part
    ),
  )
  return Tag ? <Tag {...rest}>{words}</Tag> : words
}

type LoadingProps = { rows?: number; what: string }

/** A skeleton with one message for screen readers. */
export const Loading = ({ rows = 6, what }: LoadingProps) => (
  <div role="status" className="grid">
    <span className="sr-only">Loading {what}</span>
    {Array.from({ length: rows }, (_, row) => (
      <div
        key={row}
        aria-hidden
        className="pulse flex items-center gap-3 border-b border-line px-4 py-3"
      >
        <span className="size-4 rounded-sm bg-raised" />
        <span className="h-3 w-16 rounded-sm bg-raised" />
        <span className={`h-3 rounded-sm bg-raised ${row % 3 === 0 ? 'w-1/2' : 'w-1/3'}`} />
      </div>
    ))}
  </div>
)

type QueryProps = LoadingProps & { query: { error: unknown; refetch: () => unknown } }

/** Combines several queries: the first error counts, and a refetch refetches all. */
export const joinQueries = (...queries: readonly QueryProps['query'][]) => ({
  error: queries.find(({ error }) => error)?.error,
  refetch: () => queries.map(({ refetch }) => refetch()),
})

/** Shows the loading or error state of a query. */
export const QueryState = ({ query, ...loading }: QueryProps) =>
  query.error ? (
    <ErrorState error={query.error} retry={() => void query.refetch()} />
  ) : (
    <Loading {...loading} />
  )

type QueryContentProps<T> = LoadingProps & {
  query: QueryProps['query'] & { data: T | undefined }
  children: (data: T) => ReactNode
}

/** Shows the data of a query, or its loading or error state. */
export const QueryContent = <T,>({ query, children, ...loading }: QueryContentProps<T>) =>
  query.data === undefined ? <QueryState query={query} {...loading} /> : children(query.data)

type NoteProps = {
  tone: 'suggest' | 'escalate' | 'act' | 'plain'
  icon: IconName
  children: ReactNode
}

export const Note = ({ tone, icon, children }: NoteProps) => {
  const tones = {
    suggest: 'bg-suggest-bg text-suggest',
    escalate: 'bg-escalate-bg text-escalate',
    act: 'bg-act-bg text-act',
    plain: 'bg-raised text-soft',
  }
  return (
    <div className={`flex gap-2 rounded px-3 py-2.5 ${tones[tone]}`}>
      <Icon name={icon} className="mt-0.5" />
      <div className="min-w-0 text-text">{children}</div>
    </div>
  )
}

export const ErrorNote = ({ error }: { error: unknown }) =>
  error ? (
    <div role="alert">
      <Note tone="escalate" icon="warn">
        <Hint text={formatPasskeyError(error) ?? formatError(error)} />
      </Note>
    </div>
  ) : null
