import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isFolder } from './file.ts'
import type { BrowseResult, FileEntry } from './file.ts'
import { joinPath, baseName } from './path.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { Dialog, DialogActions } from '../shared/Dialog.tsx'
import { Icon } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { Loading, ErrorState } from '../shared/States.tsx'
import { browseQuery } from './file-queries.ts'

export type PickedPath = {
  readonly path: string
  readonly isFile: boolean
}

type Props = {
  title: string
  /** The button label. */
  action: string
  /** Explains the effect of the choice. */
  hint?: string
  /** Allows files as well as folders. */
  withFiles?: boolean
  onPick: (picked: PickedPath) => void
  onClose: () => void
}

/** Browses the disk of the daemon, because browsers hide paths. Starts in the home folder. */
export function FolderPicker({ title, action, hint, withFiles = false, onPick, onClose }: Props) {
  const [chosen, setPath] = useState<string>()
  const path = chosen ?? '~'
  const { data, error, refetch } = useQuery(browseQuery(path))
  return (
    <Dialog title={title} onClose={onClose} wide>
      {data ? (
        <Folder data={data} withFiles={withFiles} onOpen={setPath} onPick={onPick} />
      ) : error ? (
        <ErrorState
          error={error}
          retry={() => (chosen === undefined ? void refetch() : setPath(undefined))}
        />
      ) : (
        <Loading what="folder" rows={6} />
      )}
      {hint && <p className="text-xs text-soft">{hint}</p>}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          tone="primary"
          // The initial folder is not a choice.
          disabled={!data || chosen === undefined}
          onClick={() => data && onPick({ path: data.path, isFile: false })}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** Hidden entries come last. */
const isHidden = ({ name }: FileEntry) => name.startsWith('.')

type FolderProps = {
  data: BrowseResult
  withFiles: boolean
  onOpen: (path: string) => void
  onPick: (picked: PickedPath) => void
}

function Folder({ data, withFiles, onOpen, onPick }: FolderProps) {
  const here = useRef<HTMLParagraphElement>(null)
  // Announce the new folder to screen readers.
  useEffect(() => here.current?.focus(), [data.path])
  const { parent } = data
  const shown = data.entries
    .filter((entry) => withFiles || isFolder(entry))
    .toSorted((a, b) => Number(isHidden(a)) - Number(isHidden(b)))
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-2">
        <IconButton
          icon="up"
          label="Parent folder"
          disabled={parent === null}
          onClick={() => parent !== null && onOpen(parent)}
        />
        <p
          ref={here}
          tabIndex={-1}
          data-autofocus
          className="min-w-0 font-mono text-code break-all outline-none"
        >
          <SafeText text={data.path} />
        </p>
      </div>
      <div className="scroll-thin h-80 max-h-[45dvh] overflow-y-auto rounded border border-line">
        {shown.length === 0 ? (
          <p className="p-3 text-soft">{withFiles ? 'Empty folder' : 'No folders'}</p>
        ) : (
          <ul aria-label="Folder contents">
            {shown.map((entry) => {
              const path = joinPath(data.path, baseName(entry.name))
              const isDirectory = isFolder(entry)
              return (
                <li key={entry.name}>
                  <button
                    type="button"
                    disabled={entry.forbidden === true}
                    title={entry.forbidden === true ? 'Protected path' : undefined}
                    onClick={() => (isDirectory ? onOpen(path) : onPick({ path, isFile: true }))}
                    className="flex h-8 w-full items-center gap-2.5 px-3 text-left -outline-offset-2 enabled:hover:bg-raised disabled:text-faint max-md:h-11"
                  >
                    <span
                      className={
                        isDirectory && entry.forbidden !== true ? 'text-accent' : 'text-soft'
                      }
                    >
                      <Icon name={isDirectory ? 'folder' : 'file'} />
                    </span>
                    <SafeText as="span" className="min-w-0 truncate" text={baseName(entry.name)} />
                    {entry.forbidden === true && (
                      <span className="ml-auto shrink-0 text-xs">protected</span>
                    )}
                  </button>
                </li>
              )
            })}
          </ul>
        )}
        {data.capped && <p className="p-3 text-xs text-faint">List truncated</p>}
      </div>
    </div>
  )
}
