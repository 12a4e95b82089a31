import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { RefObject } from 'react'
import { isFolder, kindOf } from './file.ts'
import type { FileEntry } from './file.ts'
import { joinPath, baseName } from './path.ts'
import { pluralize, formatMegabytes, formatSize } from './byte-size.ts'
import { withoutFile } from './view.ts'
import type { FilesView } from './view.ts'
import { Ago } from '../shared/Ago.tsx'
import { Button } from '../shared/Button.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShowMore } from '../shared/ListParts.tsx'
import { EmptyState } from '../shared/States.tsx'
import { infoQuery, listingQuery, keepUnlessGone } from './file-queries.ts'
import { FileAwaited } from './FileError.tsx'
import { rowClass, useFileKeys } from './use-file-keys.ts'

type Props = {
  view: FilesView
  /** What has the focus where no row can. */
  place: RefObject<HTMLElement | null>
  onAdd: (() => void) | undefined
}

export function FileList({ view, place, onAdd }: Props) {
  const { path = '' } = view
  const listing = useInfiniteQuery(listingQuery(path))
  const { hasNextPage } = listing
  const data = keepUnlessGone(listing)
  // While there is more, what comes next has to come below: only the whole can be put in order.
  const files = useMemo(() => {
    const all = data?.pages.flatMap((page) => page.files)
    return hasNextPage ? all : all?.toSorted(inOrder)
  }, [data, hasNextPage])
  useFileKeys(files !== undefined, place)
  if (!files) return <FileAwaited query={listing} what="the folder" rows={8} />
  if (files.every(({ name }) => path === '' && baseName(name) === own))
    return <Nothing path={path} onAdd={onAdd} />
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      {hasNextPage && (
        <p role="status" className="px-5 py-2 text-xs text-faint max-md:px-4">
          The first {pluralize(files.length, 'name', 'names')}, as the disk has them. There are more
          below.
        </p>
      )}
      <ul aria-label="Files and folders">
        {files.map((file) => (
          <Row key={file.name} file={file} folder={path} view={view} />
        ))}
      </ul>
      <ShowMore query={listing} />
      {path === '' && <Whole />}
    </div>
  )
}

/** What cowork keeps in the workspace is nobody's file: alone it is as good as nothing. */
const own = '.cowork'

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const inOrder = (a: FileEntry, b: FileEntry) =>
  Number(isFolder(b)) - Number(isFolder(a)) || names.compare(a.name, b.name)

type RowProps = { file: FileEntry; folder: string; view: FilesView }

function Row({ file, folder, view }: RowProps) {
  const name = baseName(file.name)
  const path = joinPath(folder, name)
  const goesIn = isFolder(file)
  const kind = kindOf(file)
  const isOpen = view.open === path
  return (
    <li>
      <Link
        to="/files"
        search={goesIn ? { path } : { ...withoutFile(view), open: path }}
        {...(goesIn && { state: { row: '' } })}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'true' : undefined}
        data-row={path}
        className={rowClass(isOpen)}
      >
        <Icon
          name={goesIn ? 'folder' : kind === 'link' ? 'link' : 'file'}
          className={goesIn ? 'text-accent' : 'text-soft'}
        />
        {/* `relative` keeps the word that is only heard from hanging out where the name is cut. */}
        <span className="relative min-w-0 flex-1 truncate whitespace-pre">
          <SafeText text={name} />
          {goesIn && <span className="sr-only"> folder</span>}
        </span>
        {file.modified_at !== undefined && (
          <Ago at={file.modified_at} className="shrink-0 text-xs text-soft max-md:hidden" />
        )}
        <span className="w-16 shrink-0 text-right text-xs text-soft">
          {kind ?? (!goesIn && file.size_bytes !== undefined && formatSize(file.size_bytes))}
        </span>
      </Link>
    </li>
  )
}

const Nothing = ({ path, onAdd }: { path: string; onAdd: (() => void) | undefined }) => (
  <EmptyState icon="folder" title="This folder is empty">
    {path === '' && <p>What agents make lies here.</p>}
    {onAdd && <p>Drop a file on this page to put it here.</p>}
    {onAdd && <Button onClick={onAdd}>Add files</Button>}
  </EmptyState>
)

const guards: Record<string, string> = {
  landlock: 'The kernel keeps the file worker inside the workspace and the grants.',
  walk: 'Every path is walked from its root; this kernel has no Landlock to add to that.',
  checked: 'Paths are checked before and after; this system cannot do better.',
}

/** Under the top of the workspace: where it lies, how much there is, how it is guarded (PV6). */
function Whole() {
  const { data } = useQuery(infoQuery)
  if (!data) return null
  return (
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 px-5 py-3 text-xs text-faint max-md:px-4">
      <SafeText as="span" className="font-mono break-all" text={data.workspace_path} />
      {data.path_after_restart !== undefined && (
        <span className="text-suggest">
          After a restart: <SafeText text={data.path_after_restart} />
        </span>
      )}
      <span>
        {pluralize(data.total_files, 'file', 'files')}
        {/* Of a few small files no size is told. */}
        {data.total_size_mb > 0 && `, ${formatMegabytes(data.total_size_mb)}`}
      </span>
      <span>{guards[data.containment]}</span>
    </p>
  )
}
