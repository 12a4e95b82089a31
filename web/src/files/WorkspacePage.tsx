import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { isAbsolute, parentPath } from './path.ts'
import { withoutFile } from './view.ts'
import { useKeys } from '../shared/use-keys.ts'
import { useCanAct } from '../settings/person.ts'
import { DropZone } from './DropZone.tsx'
import { FileBar } from './FileBar.tsx'
import { FileList } from './FileList.tsx'
import { FilePreview } from './FilePreview.tsx'
import { SearchResults } from './SearchResults.tsx'
import { useGrantRoot } from './file-queries.ts'

const route = getRouteApi('/files/')

export function WorkspacePage() {
  const view = route.useSearch()
  const navigate = useNavigate()
  const { path = '', open, q } = view
  const mayChange = useCanAct()
  const root = useGrantRoot(path)
  const input = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLElement>(null)
  // Browsers hide the path of a dropped file, so it is copied. Copies go only into the workspace.
  const mayAdd = mayChange && !isAbsolute(path)
  const add = mayAdd ? () => input.current?.click() : undefined
  useKeys({
    ...(open !== undefined && {
      Escape: () =>
        void navigate({ to: '/files', search: withoutFile(view), state: { row: open } }),
    }),
    ...(path !== root && {
      u: () => {
        const up = parentPath(path)
        void navigate({ to: '/files', search: up === '' ? {} : { path: up }, state: { row: path } })
      },
    }),
  })
  return (
    <DropZone folder={path} isOn={mayAdd} input={input}>
      <section
        ref={folder}
        tabIndex={-1}
        aria-label="Folder"
        className={`flex min-w-0 flex-1 flex-col outline-none ${
          open === undefined ? '' : 'max-md:hidden md:max-w-[46%] md:min-w-80'
        }`}
      >
        <FileBar view={view} root={root} onAdd={add} />
        {q === undefined ? (
          <FileList key={path} view={view} container={folder} onAdd={add} />
        ) : (
          <SearchResults view={view} container={folder} />
        )}
      </section>
      {open !== undefined && (
        <FilePreview key={open} path={open} view={view} mayChange={mayChange} />
      )}
    </DropZone>
  )
}
