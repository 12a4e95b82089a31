import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { buttonClass } from '../shared/Button.tsx'
import { Loading, ErrorState } from '../shared/States.tsx'

const relatedScreens: Readonly<
  Record<string, readonly [to: '/files/grants' | '/files/trash', string]>
> = {
  no_grant: ['/files/grants', 'Grants'],
  root_replaced: ['/files/grants', 'Grants'],
  not_found: ['/files/trash', 'Trash'],
}

type Props = { error: unknown; retry: () => void; children?: ReactNode }

/** The error of a path, with links to related screens. */
export function FileError({ error, retry, children }: Props) {
  const isRefused = error instanceof ApiError && error.code !== 'unreachable'
  const related = isRefused ? relatedScreens[error.code] : undefined
  return (
    <ErrorState error={error} retry={retry}>
      {children}
      {isRefused && (
        <Link to="/files" className={buttonClass()}>
          Workspace
        </Link>
      )}
      {related && (
        <Link to={related[0]} className={buttonClass()}>
          {related[1]}
        </Link>
      )}
    </ErrorState>
  )
}

type AwaitedProps = {
  query: { error: unknown; refetch: () => unknown }
  what: string
  rows: number
}

export const FileAwaited = ({ query, ...loading }: AwaitedProps) =>
  query.error ? (
    <FileError error={query.error} retry={() => void query.refetch()} />
  ) : (
    <Loading {...loading} />
  )
