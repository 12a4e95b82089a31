import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RefObject } from 'react'
import type { SearchHit } from './file.ts'
import { baseName, parentPath, relativeTo } from './path.ts'
import { pluralize } from './byte-size.ts'
import { describeScope, withoutFile } from './view.ts'
import type { FilesView } from './view.ts'
import { buttonClass } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShowMore } from '../shared/ListParts.tsx'
import { EmptyState } from '../shared/States.tsx'
import { infoQuery, searchQuery, keepUnlessGone } from './file-queries.ts'
import { FileAwaited } from './FileError.tsx'
import { useFileKeys } from './use-file-keys.ts'

type Props = { view: FilesView; container: RefObject<HTMLElement | null> }

export function SearchResults({ view, container }: Props) {
  const search = useInfiniteQuery(searchQuery(view))
  const data = keepUnlessGone(search)
  const workspace = useQuery(infoQuery).data?.workspace_path
  useFileKeys(data !== undefined, container)
  if (!data) return <FileAwaited query={search} what="search results" rows={6} />
  const hits = data.pages.flatMap((page) => page.results)
  const total = data.pages[0]?.total_count ?? hits.length
  const skipped = data.pages[0]?.skipped ?? []
  if (hits.length === 0) return <NoMatch view={view} skipped={skipped} />
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      <p role="status" className="px-5 py-2 text-xs text-faint max-md:px-4">
        {pluralize(total, 'match', 'matches')} <SafeText text={describeScope(view)} />
        {skipped.length > 0 && '. Some files were not searched: see below.'}
      </p>
      <ul aria-label="Search results">
        {hits.map((hit) => (
          <Row
            key={`${hit.path} ${hit.line ?? 0}`}
            hit={hit}
            path={workspace === undefined ? hit.path : relativeTo(workspace, hit.path)}
            view={view}
          />
        ))}
      </ul>
      <ShowMore query={search} />
      {skipped.length > 0 && (
        <div className="pt-3">
          <NotSearched skipped={skipped} />
        </div>
      )}
    </div>
  )
}

const NotSearched = ({ skipped }: { skipped: readonly string[] }) =>
  skipped.map((text) => (
    <SafeText
      key={text}
      as="p"
      className="px-5 pb-2 text-xs wrap-anywhere text-faint max-md:px-4"
      text={text}
    />
  ))

type RowProps = { hit: SearchHit; path: string; view: FilesView }

function Row({ hit, path, view }: RowProps) {
  const isOpen = view.open === path
  return (
    <li>
      <Link
        to="/files"
        search={{ ...withoutFile(view), open: path }}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'true' : undefined}
        data-row={path}
        className={`grid grid-cols-[16px_minmax(0,1fr)] gap-x-2.5 border-b border-line px-5 py-2 -outline-offset-2 max-md:px-4 ${
          isOpen ? 'bg-accent-bg shadow-[inset_2px_0_var(--accent)]' : 'hover:bg-raised'
        }`}
      >
        <Icon name="file" className="pt-0.5 text-soft" />
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <SafeText as="span" className="break-all" text={baseName(path)} />
          <span className="text-xs break-all text-soft">
            <SafeText text={parentPath(path)} />
            {hit.line !== undefined && `, line ${hit.line.toLocaleString()}`}
          </span>
        </span>
        {hit.snippet !== undefined && (
          <SafeText
            as="code"
            className="col-start-2 line-clamp-2 font-mono text-xs break-all text-soft"
            text={hit.snippet}
          />
        )}
      </Link>
    </li>
  )
}

function NoMatch({ view, skipped }: { view: FilesView; skipped: readonly string[] }) {
  const { q = '', by } = view
  const { by: _, ...byName } = withoutFile(view)
  return (
    <EmptyState icon="search" title="No matches">
      <p className="wrap-anywhere">
        {by === 'content' ? 'No file' : 'No name'} <SafeText text={describeScope(view)} /> contains
        “
        <SafeText text={q} />
        ”.
      </p>
      <NotSearched skipped={skipped} />
      <p className="flex flex-wrap justify-center gap-2">
        <Link
          to="/files"
          search={by === 'content' ? byName : { ...byName, by: 'content' }}
          className={buttonClass()}
        >
          {by === 'content' ? 'Search names' : 'Search content'}
        </Link>
        {view.in !== 'all' && (
          <Link to="/files" search={{ ...withoutFile(view), in: 'all' }} className={buttonClass()}>
            Search everywhere
          </Link>
        )}
      </p>
    </EmptyState>
  )
}
