import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { callFiles } from './call.ts'
import type { ReadFile } from './file.ts'
import { isAbsolute, baseName } from './path.ts'
import { toPreview } from './preview.ts'
import { formatSize } from './byte-size.ts'
import { withoutFile } from './view.ts'
import type { FilesView } from './view.ts'
import { Button, buttonClass } from '../shared/Button.tsx'
import { CopyIcon } from '../shared/Copy.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { HorizontalScroll } from '../shared/HorizontalScroll.tsx'
import { Loading, Note } from '../shared/States.tsx'
import { sanitizeText } from '../shared/sanitize.ts'
import { formatAgo, fullTime } from '../shared/time.ts'
import { useNow } from '../shared/use-now.ts'
import { toast, toastProblem } from '../shared/toast.ts'
import { useTitle } from '../shared/use-title.ts'
import { readQuery, keepUnlessGone } from './file-queries.ts'
import { FileError } from './FileError.tsx'
import { FileVersions } from './FileVersions.tsx'
import { saveFile } from './transfer.ts'
import { nextRow } from './use-file-keys.ts'

type Props = { path: string; view: FilesView; mayChange: boolean }

/** Versions stay available after a grant ends, so that changes of agents can be undone. */
const isClosed = ({ code }: ApiError) => code === 'no_grant' || code === 'root_replaced'

export function FilePreview({ path, view, mayChange }: Props) {
  const remove = useRemove(path, view)
  // Do not read a file during its deletion.
  const reading = useQuery({ ...readQuery(path), enabled: remove.isIdle || remove.isError })
  const { error, refetch } = reading
  const data = keepUnlessGone(reading)
  useTitle(baseName(path), 'Files')
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [])
  const [hasVersions, setVersions] = useState(false)
  return (
    <section
      aria-label="File"
      className="scroll-thin flex min-w-0 flex-1 flex-col overflow-y-auto border-l border-line max-md:border-0"
    >
      <header className="sticky top-0 z-10 flex min-h-12 items-center gap-2 border-b border-line bg-bg px-5 max-md:px-2">
        <h2
          ref={heading}
          tabIndex={-1}
          className="min-w-0 flex-1 truncate font-[550] whitespace-pre outline-none max-md:order-1"
        >
          <SafeText text={baseName(path)} />
        </h2>
        <Close path={path} view={view} />
      </header>
      {data ? (
        <div className="grid gap-4 px-5 py-4 max-md:px-4">
          <Facts read={data} />
          <FileActions
            subject={data.path}
            path={path}
            mayChange={mayChange}
            remove={remove}
            versions={{ isOn: hasVersions, toggle: () => setVersions(!hasVersions) }}
          />
          {hasVersions && <FileVersions path={path} mayChange={mayChange} />}
          <Content read={data} />
        </div>
      ) : error ? (
        <>
          <FileError error={error} retry={() => void refetch()}>
            {error instanceof ApiError && error.code === 'too_large' && (
              <FileActions path={path} mayChange={mayChange} remove={remove} />
            )}
          </FileError>
          {error instanceof ApiError && isClosed(error) && (
            <div className="px-5 pb-4 max-md:px-4">
              <FileVersions path={path} mayChange={mayChange} />
            </div>
          )}
        </>
      ) : (
        <Loading what="file" rows={4} />
      )}
    </section>
  )
}

const Close = ({ path, view }: { path: string; view: FilesView }) => (
  <Link
    to="/files"
    search={withoutFile(view)}
    state={{ row: path }}
    activeOptions={{ exact: true, includeSearch: true }}
    aria-label="Close"
    title="Close"
    className="grid size-8 shrink-0 place-items-center rounded text-soft hover:bg-raised hover:text-text max-md:size-11"
  >
    <Icon name="cross" className="max-md:hidden" />
    <Icon name="back" className="md:hidden" />
  </Link>
)

function Facts({ read }: { read: ReadFile }) {
  const now = useNow()
  const at = Date.parse(read.modified_at)
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-soft">
      <span>{formatSize(read.size_bytes)}</span>
      <time dateTime={read.modified_at} title={fullTime(at)}>
        changed {formatAgo(at, now)}
      </time>
      {read.encoding !== 'base64' && read.mime.startsWith('text/') && <span>{read.encoding}</span>}
      <span className="flex min-w-0 basis-full items-center gap-1">
        <SafeText as="span" className="min-w-0 font-mono break-all" text={read.path} />
        <CopyIcon text={read.path} what="path" />
      </span>
    </p>
  )
}

/** Deletes without confirmation, because the trash keeps the file. */
function useRemove(path: string, view: FilesView) {
  const navigate = useNavigate()
  const name = sanitizeText(baseName(path))
  const restore = async (id: string) => {
    try {
      await callFiles('trash_restore', { trash_id: id })
      toast(`Restored ${name}.`)
    } catch (error) {
      toastProblem(error)
    }
  }
  return useMutation({
    mutationFn: () => callFiles('delete_file', { path }),
    // The live stream may remove the row before the response arrives.
    onMutate: () => nextRow(path),
    onSuccess: ({ trash_id: id }, _, row) => {
      toast(`Moved ${name} to the trash.`, false, { label: 'Undo', run: () => void restore(id) })
      void navigate({ to: '/files', search: withoutFile(view), state: { row } })
    },
    onError: toastProblem,
  })
}

type FileActionsProps = Omit<Props, 'view'> & {
  remove: ReturnType<typeof useRemove>
  /** The path in the ledger, once known. */
  subject?: string
  versions?: { isOn: boolean; toggle: () => void }
}

function FileActions({ subject, path, mayChange, versions, remove }: FileActionsProps) {
  return (
    <div className="flex flex-wrap gap-2">
      {subject !== undefined && (
        <Link to="/audit" search={{ subject }} className={buttonClass('plain', 'sm')}>
          <Icon name="audit" size={14} />
          Show in Audit
        </Link>
      )}
      {versions && (
        <Button size="sm" icon="clock" aria-expanded={versions.isOn} onClick={versions.toggle}>
          Versions
        </Button>
      )}
      {mayChange && !isAbsolute(path) && (
        <Button size="sm" icon="trash" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Move to trash
        </Button>
      )}
    </div>
  )
}

function Content({ read }: { read: ReadFile }) {
  const preview = toPreview(read)
  if (preview.kind === 'withheld')
    return (
      <Note tone="suggest" icon="key">
        <p className="font-[550]">Preview hidden</p>
        <p className="text-soft">Sensitive file. Open it outside cowork.</p>
      </Note>
    )
  if (preview.kind === 'picture')
    return (
      <Picture
        key={preview.source}
        source={preview.source}
        name={sanitizeText(baseName(read.path))}
      />
    )
  if (preview.kind === 'none')
    return (
      <div className="grid justify-items-start gap-3">
        <p className="text-soft">No preview for this file type</p>
        {read.content !== undefined && (
          <Button icon="download" onClick={() => void saveFile(read).catch(toastProblem)}>
            Download
          </Button>
        )}
      </div>
    )
  if (preview.text === '') return <p className="text-soft">Empty file</p>
  return (
    <div className="grid gap-2">
      {read.warnings?.map((warning) => (
        <Note key={warning} tone="suggest" icon="info">
          <SafeText text={warning} />
        </Note>
      ))}
      <div className="overflow-hidden rounded border border-line bg-panel">
        <HorizontalScroll
          as="pre"
          label="Content"
          className="p-3 font-mono text-code whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          <SafeText text={preview.text} lines spaces />
        </HorizontalScroll>
      </div>
      {preview.isCut && <p className="text-xs text-faint">Preview truncated</p>}
    </div>
  )
}

function Picture({ source, name }: { source: string; name: string }) {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return <p className="text-soft">Cannot display this picture.</p>
  return (
    <img
      src={source}
      alt={name}
      onError={() => setBroken(true)}
      className="max-h-[70dvh] max-w-full justify-self-start rounded border border-line bg-raised object-contain"
    />
  )
}
