import { Link, useNavigate } from '@tanstack/react-router'
import { crumbsOf, shortened } from './path.ts'
import { Icon } from '../shared/Icon.tsx'
import { Menu } from '../shared/Menu.tsx'
import { Plain } from '../shared/Plain.tsx'
import { plainString } from '../shared/plain.ts'

type Props = {
  /** The screen that shows a folder. */
  to: '/files' | '/files/size'
  path: string
  /** Where the way begins. */
  root: string
}

const viewOf = (path: string) => (path === '' ? {} : { path })

/** The way to a folder, on one line: the middle of a long one is behind a button. */
export function Crumbs({ to, path, root }: Props) {
  const navigate = useNavigate()
  const { first, hidden, last } = shortened(crumbsOf(path, root))
  const shown = [first, ...last]
  return (
    <nav aria-label="Folders" className="min-w-0 flex-1 max-md:basis-full">
      <ol className="flex items-center gap-x-1">
        {shown.map((crumb, at) => (
          <li key={crumb.path} className="flex min-w-0 items-center gap-1">
            {at > 0 && <Mark />}
            {at === 1 && hidden.length > 0 && (
              <>
                <Menu
                  trigger={
                    <button
                      type="button"
                      aria-label={`${hidden.length} folders between`}
                      title={hidden.map(({ name }) => plainString(name)).join(' / ')}
                      className="grid h-6 min-w-6 shrink-0 place-items-center rounded-sm text-soft hover:bg-raised hover:text-text max-md:h-9 max-md:min-w-9"
                    >
                      …
                    </button>
                  }
                  items={hidden.map((one) => ({
                    id: one.path,
                    label: plainString(one.name),
                    icon: 'folder',
                    act: () => void navigate({ to, search: viewOf(one.path) }),
                  }))}
                />
                <Mark />
              </>
            )}
            <Link
              to={to}
              search={viewOf(crumb.path)}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={at === shown.length - 1 ? 'page' : undefined}
              title={plainString(crumb.name)}
              className={`min-w-6 truncate rounded-sm leading-6 whitespace-pre max-md:leading-9 ${
                at === shown.length - 1 ? 'font-[550] text-text' : 'text-soft hover:text-text'
              }`}
            >
              <Plain text={crumb.name} />
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  )
}

const Mark = () => <Icon name="right" size={12} className="shrink-0 text-faint" />
