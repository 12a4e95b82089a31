import { Link } from '@tanstack/react-router'
import { crumbsOf } from '../../files/paths.ts'
import { Icon } from '../../parts/Icon.tsx'
import { Plain } from '../../parts/Plain.tsx'

/** The way back up from a folder one looked into. */
export const SizeCrumbs = ({ path }: { path: string }) => (
  <nav aria-label="Folders">
    <ol className="flex flex-wrap items-center gap-x-1">
      {crumbsOf(path, '').map(({ name, path: to }, at) => (
        <li key={to} className="flex items-center gap-1">
          {at > 0 && (
            <span className="text-faint">
              <Icon name="right" size={12} />
            </span>
          )}
          <Link
            to="/files/size"
            search={to === '' ? {} : { path: to }}
            activeOptions={{ exact: true, includeSearch: true }}
            className="text-soft hover:text-text aria-[current=page]:font-[550] aria-[current=page]:text-text"
          >
            <Plain text={name} />
          </Link>
        </li>
      ))}
    </ol>
  </nav>
)
