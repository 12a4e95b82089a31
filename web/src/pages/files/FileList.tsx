import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { isFolder } from '../../files/file.ts'
import type { Listed } from '../../files/file.ts'
import { joined, nameOf } from '../../files/paths.ts'
import { countText, sizeText } from '../../files/sizes.ts'
import { withoutFile } from '../../files/view.ts'
import type { FilesView } from '../../files/view.ts'
import { Button } from '../../parts/Button.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Plain } from '../../parts/Plain.tsx'
import { Empty, Loading, Trouble } from '../../parts/States.tsx'
import { ago, fullTime } from '../../time.ts'
import { useNow } from '../../use-now.ts'
import { infoQuery, listingQuery } from './file-queries.ts'
import { rowLook, useFileKeys } from './use-file-keys.ts'

type Props = { view: FilesView; onAdd: (() => void) | undefined }

/** Folders first, then files, each by name. */
export function FileList({ view, onAdd }: Props) {
  const { path = '' } = view
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    listingQuery(path),
  )
  const files = useMemo(() => data?.pages.flatMap((page) => page.files).toSorted(inOrder), [data])
  useFileKeys()
  if (!files)
    return error ? (
      <Trouble error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="the folder" rows={8} />
    )
  if (files.length === 0) return <Nothing isTop={path === ''} onAdd={onAdd} />
  return (
    <div className="scroll-thin min-h-0 flex-1 overflow-y-auto">
      <ul aria-label="Files and folders">
        {files.map((file) => (
          <Row key={file.name} file={file} folder={path} view={view} />
        ))}
      </ul>
      {hasNextPage && (
        <p className="p-3 text-center">
          <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
      {path === '' && <Whole />}
    </div>
  )
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
const inOrder = (a: Listed, b: Listed) =>
  Number(isFolder(b)) - Number(isFolder(a)) || names.compare(a.name, b.name)

type RowProps = { file: Listed; folder: string; view: FilesView }

function Row({ file, folder, view }: RowProps) {
  const now = useNow()
  const name = nameOf(file.name)
  const path = joined(folder, name)
  const goesIn = isFolder(file)
  const isOpen = view.open === path
  const at = file.modified_at === undefined ? undefined : Date.parse(file.modified_at)
  return (
    <li>
      <Link
        to="/files"
        search={goesIn ? { path } : { ...withoutFile(view), open: path }}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isOpen ? 'true' : undefined}
        data-row={path}
        className={rowLook(isOpen)}
      >
        <span className={goesIn ? 'text-accent' : 'text-soft'}>
          <Icon name={goesIn ? 'folder' : 'file'} />
        </span>
        <span className="min-w-0 flex-1 truncate">
          <Plain text={name} />
          {goesIn && <span className="sr-only"> folder</span>}
        </span>
        {at !== undefined && (
          <time
            dateTime={file.modified_at}
            title={fullTime(at)}
            className="shrink-0 text-xs text-soft max-md:hidden"
          >
            {ago(at, now)}
          </time>
        )}
        <span className="w-16 shrink-0 text-right text-xs text-soft">
          {!goesIn && file.size_bytes !== undefined && sizeText(file.size_bytes)}
        </span>
      </Link>
    </li>
  )
}

const Nothing = ({ isTop, onAdd }: { isTop: boolean; onAdd: (() => void) | undefined }) => (
  <Empty icon="folder" title="This folder is empty">
    <p>
      {isTop
        ? 'What agents make lies here. Drop a file on this page to give them one.'
        : 'Drop a file on this page to put it here.'}
    </p>
    {onAdd && <Button onClick={onAdd}>Add files</Button>}
  </Empty>
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
    <p className="flex flex-wrap gap-x-3 gap-y-0.5 px-4 py-3 text-xs text-faint">
      <span className="font-mono break-all">
        <Plain text={data.workspace_path} />
      </span>
      <span>
        {countText(data.total_files, 'file', 'files')}, {data.total_size_mb} MB
      </span>
      <span>{guards[data.containment]}</span>
    </p>
  )
}
