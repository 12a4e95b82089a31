import { useNavigate, Link } from '@tanstack/react-router'
import { queryClient } from '../api/queries.ts'
import { listScopes, withoutFile } from './view.ts'
import type { FilesView } from './view.ts'
import { Button, IconButton } from '../shared/Button.tsx'
import { SearchBox } from '../shared/FindBox.tsx'
import { ViewSwitch } from '../shared/ViewSwitch.tsx'
import { diskKey } from './file-queries.ts'
import { buildCrumbs, shortenCrumbs } from './path.ts'
import { Icon } from '../shared/Icon.tsx'
import { Menu } from '../shared/Menu.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { sanitizeText } from '../shared/sanitize.ts'

type Props = { view: FilesView; root: string; onAdd: (() => void) | undefined }

export function FileBar({ view, root, onAdd }: Props) {
  const navigate = useNavigate()
  const find = (q: string) => {
    const { q: _, in: where, by, ...others } = withoutFile(view)
    const asked = { ...(where && { in: where }), ...(by && { by }) }
    void navigate({
      to: '/files',
      search: { ...others, ...(q !== '' && { q, ...asked }) },
      // Typing a search adds only one history entry.
      replace: view.q !== undefined,
    })
  }
  return (
    <div className="flex flex-wrap items-center gap-x-1 gap-y-2 border-b border-line px-5 py-2.5 max-md:px-4 max-md:py-1.5">
      <Crumbs to="/files" path={view.path ?? ''} root={root} />
      <IconButton
        icon="refresh"
        label="Reload folder"
        className="max-md:order-1"
        onClick={() => void queryClient.invalidateQueries({ queryKey: diskKey })}
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
          <SearchBox what="files" text={view.q} onFind={find} />
        </span>
        {view.q !== undefined && <Scope view={view} />}
      </div>
    </div>
  )
}

const searchTypes = [
  [undefined, 'Names'],
  ['content', 'Content'],
] as const

function Scope({ view }: { view: FilesView }) {
  const { in: where, by, ...others } = withoutFile(view)
  return (
    <>
      <ViewSwitch
        label="Search in"
        to="/files"
        views={listScopes(view).map(({ name, in: value }) => ({
          name,
          isOn: where === value,
          search: { ...others, ...(value && { in: value }), ...(by && { by }) },
        }))}
      />
      <ViewSwitch
        label="Search by"
        to="/files"
        views={searchTypes.map(([value, name]) => ({
          name,
          isOn: by === value,
          search: { ...others, ...(where && { in: where }), ...(value && { by: value }) },
        }))}
      />
    </>
  )
}

type CrumbsProps = {
  /** The screen of the links. */
  to: '/files' | '/files/size'
  path: string
  /** The first breadcrumb. */
  root: string
}

const toView = (path: string) => (path === '' ? {} : { path })

/** The breadcrumbs of a folder on one line; a menu contains the middle ones. */
export function Crumbs({ to, path, root }: CrumbsProps) {
  const navigate = useNavigate()
  const { first, hidden, last } = shortenCrumbs(buildCrumbs(path, root))
  const shown = [first, ...last]
  return (
    <nav aria-label="Folders" className="min-w-0 flex-1 max-md:basis-full">
      <ol className="flex items-center gap-x-1">
        {shown.map((crumb, at) => (
          <li key={crumb.path} className="flex min-w-0 items-center gap-1">
            {at > 0 && <Separator />}
            {at === 1 && hidden.length > 0 && (
              <>
                <Menu
                  trigger={
                    <button
                      type="button"
                      aria-label={`${hidden.length} more folders`}
                      title={hidden.map(({ name }) => sanitizeText(name)).join(' / ')}
                      className="grid h-6 min-w-6 shrink-0 place-items-center rounded-sm text-soft hover:bg-raised hover:text-text max-md:h-9 max-md:min-w-9"
                    >
                      …
                    </button>
                  }
                  items={hidden.map((one) => ({
                    id: one.path,
                    label: sanitizeText(one.name),
                    icon: 'folder',
                    act: () => void navigate({ to, search: toView(one.path) }),
                  }))}
                />
                <Separator />
              </>
            )}
            <Link
              to={to}
              search={toView(crumb.path)}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={at === shown.length - 1 ? 'page' : undefined}
              title={sanitizeText(crumb.name)}
              className={`min-w-6 truncate rounded-sm leading-6 whitespace-pre max-md:leading-9 ${
                at === shown.length - 1 ? 'font-[550] text-text' : 'text-soft hover:text-text'
              }`}
            >
              <SafeText text={crumb.name} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

const Separator = () => <Icon name="right" size={12} className="shrink-0 text-faint" />
