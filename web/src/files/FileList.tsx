import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { RefObject } from 'react'
import { isFolder, getSpecialKind } from './file.ts'
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
  /** Receives the focus if no row can. */
  container: RefObject<HTMLElement | null>
  onAdd: (() => void) | undefined
}

export function FileList({ view, container, onAdd }: Props) {
  const { path = '' } = view
  const listing = useInfiniteQuery(listingQuery(path))
  const { hasNextPage } = listing
  const data = keepUnlessGone(listing)
  // Sort only a complete list: the next page must appear below the current rows.
  const files = useMemo(() => {
    const all = data?.pages.flatMap((page) => page.files)
    return hasNextPage ? all : all?.toSorted(compareEntries)
  }, [data, hasNextPage])
  useFileKeys(files !== undefined, container)
  if (!files) return <FileAwaited query={listing} what="folder" rows={8} />
  if (files.every(({ name }) => path === '' && baseName(name) === internalFolder))
    return <EmptyFolder path={path} onAdd={onAdd} />
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      {hasNextPage && (
        <p role="status" className="px-5 py-2 text-xs text-faint max-md:px-4">
          First {pluralize(files.length, 'entry', 'entries')}, unsorted
        </p>
      )}
      <ul aria-label="Files and folders">
        {files.map((file) => (
          <Row key={file.name} file={file} folder={path} view={view} />
        ))}
      </ul>
      <ShowMore query={listing} />
      {path === '' && <WorkspaceSummary />}
    </div>
  )
}

/** The folder of cowork's own files; a workspace with only this folder counts as empty. */
const internalFolder = '.cowork'

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const compareEntries = (a: FileEntry, b: FileEntry) =>
  Number(isFolder(b)) - Number(isFolder(a)) || names.compare(a.name, b.name)

type RowProps = { file: FileEntry; folder: string; view: FilesView }

function Row({ file, folder, view }: RowProps) {
  const name = baseName(file.name)
  const path = joinPath(folder, name)
  const isDirectory = isFolder(file)
  const kind = getSpecialKind(file)
  const isOpen = view.open === path
  return (
    <li>
      <Link
        to="/files"
        search={isDirectory ? { path } : { ...withoutFile(view), open: path }}
        {...(isDirectory && { state: { row: '' } })}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'true' : undefined}
        data-row={path}
        className={rowClass(isOpen)}
      >
        <Icon
          name={isDirectory ? 'folder' : kind === 'link' ? 'link' : 'file'}
          className={isDirectory ? 'text-accent' : 'text-soft'}
        />
        {/* `relative` keeps the screen reader text inside the truncated name. */}
        <span className="relative min-w-0 flex-1 truncate whitespace-pre">
          <SafeText text={name} />
          {isDirectory && <span className="sr-only"> folder</span>}
        </span>
        {file.modified_at !== undefined && (
          <Ago at={file.modified_at} className="shrink-0 text-xs text-soft max-md:hidden" />
        )}
        <span className="w-16 shrink-0 text-right text-xs text-soft">
          {kind ?? (!isDirectory && file.size_bytes !== undefined && formatSize(file.size_bytes))}
        </span>
      </Link>
    </li>
  )
}

const EmptyFolder = ({ path, onAdd }: { path: string; onAdd: (() => void) | undefined }) => (
  <EmptyState icon="folder" title="This folder is empty">
    {path === '' && <p>Agents save files here.</p>}
    {onAdd && <p>Drop files on this page to add them.</p>}
    {onAdd && <Button onClick={onAdd}>Add files</Button>}
  </EmptyState>
)

const containmentLabels: Record<string, string> = {
  landlock: 'Landlock confines the file worker to the workspace and the grants.',
  walk: 'Path checks only: this kernel has no Landlock.',
  checked: 'Path checks before and after each operation.',
}

/** The path, size and sandboxing of the workspace (PV6). */
function WorkspaceSummary() {
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
        {/* The size in MB is 0 for a few small files. */}
        {data.total_size_mb > 0 && `, ${formatMegabytes(data.total_size_mb)}`}
      </span>
      <span>{containmentLabels[data.containment]}</span>
    </p>
  )
}
