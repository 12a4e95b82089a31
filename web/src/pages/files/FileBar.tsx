import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { crumbsOf } from '../../files/paths.ts'
import { withoutFile } from '../../files/view.ts'
import type { FilesView } from '../../files/view.ts'
import { Button, IconButton } from '../../parts/Button.tsx'
import { FindBox } from '../../parts/FindBox.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Plain } from '../../parts/Plain.tsx'
import { Views } from '../../parts/Views.tsx'
import { diskKey } from './file-queries.ts'

type Props = { view: FilesView; root: string; onAdd: (() => void) | undefined }

/** Where one is, and what one looks for. */
export function FileBar({ view, root, onAdd }: Props) {
  const navigate = useNavigate()
  const client = useQueryClient()
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
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-b border-line px-4 py-2.5">
      <div className="flex items-center gap-1">
        <Crumbs path={view.path ?? ''} root={root} />
        <IconButton
          icon="refresh"
          label="Read the folder again"
          onClick={() => void client.invalidateQueries({ queryKey: diskKey })}
        />
        {onAdd && (
          <Button size="sm" icon="plus" onClick={onAdd}>
            Add files
          </Button>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <span className="flex min-w-40 flex-1">
          <FindBox what="files" text={view.q} onFind={find} />
        </span>
        {view.q !== undefined && <Scope view={view} />}
      </div>
    </div>
  )
}

function Crumbs({ path, root }: { path: string; root: string }) {
  const crumbs = crumbsOf(path, root)
  return (
    <nav aria-label="Folders" className="min-w-0 flex-1">
      <ol className="flex flex-wrap items-center gap-x-1">
        {crumbs.map(({ name, path: to }, at) => (
          <li key={to} className="flex min-w-0 items-center gap-1">
            {at > 0 && (
              <span className="text-faint">
                <Icon name="right" size={12} />
              </span>
            )}
            <Link
              to="/files"
              search={to === '' ? {} : { path: to }}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={at === crumbs.length - 1 ? 'page' : undefined}
              className={`min-w-0 rounded-sm break-all max-md:leading-8 ${
                at === crumbs.length - 1 ? 'font-[550] text-text' : 'text-soft hover:text-text'
              }`}
            >
              <Plain text={name} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

const places = [
  [undefined, 'Workspace'],
  ['granted', 'Granted'],
  ['all', 'All'],
] as const
const ways = [
  [undefined, 'Names'],
  ['content', 'Content'],
] as const

/** Where, and in names or in what they hold. */
function Scope({ view }: { view: FilesView }) {
  const { in: where, by, ...others } = withoutFile(view)
  return (
    <>
      <Views
        label="Search in"
        to="/files"
        views={places.map(([value, name]) => ({
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
