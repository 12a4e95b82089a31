import { queries } from '../api/queries.ts'
import { useNavigate } from '@tanstack/react-router'
import { scopesOf, withoutFile } from './view.ts'
import type { FilesView } from './view.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { FindBox } from '../shared/FindBox.tsx'
import { Views } from '../shared/Views.tsx'
import { Crumbs } from './Crumbs.tsx'
import { diskKey } from './file-queries.ts'

type Props = { view: FilesView; root: string; onAdd: (() => void) | undefined }

export function FileBar({ view, root, onAdd }: Props) {
  const navigate = useNavigate()
  const find = (q: string) => {
    const { q: _, in: where, by, ...others } = withoutFile(view)
    const asked = { ...(where && { in: where }), ...(by && { by }) }
    void navigate({
      to: '/files',
      search: { ...others, ...(q !== '' && { q, ...asked }) },
      // Looking for something is one step back, however long one types.
      replace: view.q !== undefined,
    })
  }
  return (
    <div className="flex flex-wrap items-center gap-x-1 gap-y-2 border-b border-line px-5 py-2.5 max-md:px-4 max-md:py-1.5">
      <Crumbs to="/files" path={view.path ?? ''} root={root} />
      <IconButton
        icon="refresh"
        label="Read the folder again"
        className="max-md:order-1"
        onClick={() => void queries.invalidateQueries({ queryKey: diskKey })}
      />
      {onAdd && (
        <Button size="sm" icon="plus" className="max-md:order-1" onClick={onAdd}>
          Add files
        </Button>
      )}
      <div
        className={`flex min-w-0 basis-full flex-wrap items-center gap-2 ${
          view.q === undefined ? 'max-md:flex-1 max-md:basis-0' : ''
        }`}
      >
        <span className="flex min-w-30 flex-1">
          <FindBox what="files" text={view.q} onFind={find} />
        </span>
        {view.q !== undefined && <Scope view={view} />}
      </div>
    </div>
  )
}

const ways = [
  [undefined, 'Names'],
  ['content', 'Content'],
] as const

function Scope({ view }: { view: FilesView }) {
  const { in: where, by, ...others } = withoutFile(view)
  return (
    <>
      <Views
        label="Search in"
        to="/files"
        views={scopesOf(view).map(({ name, in: value }) => ({
          name,
          isOn: where === value,
          search: { ...others, ...(value && { in: value }), ...(by && { by }) },
        }))}
      />
      <Views
        label="Search by"
        to="/files"
        views={ways.map(([value, name]) => ({
          name,
          isOn: by === value,
          search: { ...others, ...(where && { in: where }), ...(value && { by: value }) },
        }))}
      />
    </>
  )
}
